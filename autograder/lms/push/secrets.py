"""Tokens and keys: from the environment or the system's keyring, and never in any text."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from autograder.lms.push.errors import PushError

SERVICE = "autograder"
"""The name under which the keyring has them: `keyring set autograder ACCOUNT`."""


@dataclass(frozen=True)
class Secret:
    value: str = field(repr=False)
    origin: str
    """Where it came from, for messages."""

    def hidden_in(self, text: str) -> str:
        """`text` without this secret: a server may repeat what it was sent."""
        return text.replace(self.value, "***")


def find_secret(what: str, variable: str, account: str) -> Secret:
    """The variable's value, else what the keyring has for `account`. Raises PushError when there is neither."""
    value = os.environ.get(variable, "").strip()
    if value:
        return Secret(value, variable)
    value = (_from_keyring(account) or "").strip()
    if value:
        return Secret(value, f"the keyring ({account})")
    raise PushError(f"there is no {what}: {variable} is not set and the keyring has none for {account}",
                    f"set the variable, or store it with: keyring set {SERVICE} '{account}'")  # fmt: skip


def find_token(variable: str, account: str) -> Secret:
    """A token that can stand in a header. Raises PushError without repeating it."""
    secret = find_secret("token", variable, account)
    if not (secret.value.isascii() and secret.value.isprintable()) or " " in secret.value:
        raise PushError(f"the token in {secret.origin} has spaces or characters that no token has", "copy it again")
    return secret


def _from_keyring(account: str) -> str | None:
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(SERVICE, account)
    except KeyringError:  # a machine without a keyring, or one that stays locked
        return None
