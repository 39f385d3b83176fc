"""Access tokens of an LTI 1.3 platform: one per scope, asked for with a signed assertion, kept until they expire.

1EdTech Security Framework 1.0, 4.1 "Using JSON Web Tokens with OAuth 2.0 Client-Credentials Grant":
https://www.imsglobal.org/spec/security/v1p0/
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

import jwt
import requests

from autograder.lms.push.errors import PushError
from autograder.lms.push.patience import LOST, host_of
from autograder.lms.push.secrets import Secret

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_LIFE = 300
"""Seconds that an assertion is good for."""


@dataclass(frozen=True)
class Registration:
    """How the platform knows this tool. `audience` is the token address unless the platform wants another."""

    token_url: str
    client_id: str
    key_id: str = ""
    audience: str = ""


class Tokens:
    def __init__(self, registration: Registration, key: Secret, session: requests.Session) -> None:
        self._registration, self._key, self._session = registration, key, session
        self._kept: dict[str, tuple[Secret, float]] = {}
        """By scope: the token, and the time (monotonic, seconds) from which it is not used any more."""

    def get(self, scope: str) -> Secret:
        """Raises PushError when the platform gives none."""
        kept = self._kept.get(scope)
        if kept is None or time.monotonic() >= kept[1]:
            kept = self._kept[scope] = self._fetch(scope)
        return kept[0]

    def forget(self, scope: str) -> None:
        """The platform did not accept it: the next one is a new one."""
        self._kept.pop(scope, None)

    def _fetch(self, scope: str) -> tuple[Secret, float]:
        host, started = host_of(self._registration.token_url), time.monotonic()
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": _ASSERTION,
            "client_assertion": self._assertion(),
            "scope": scope,
        }
        try:
            response = self._session.post(self._registration.token_url, data=form, allow_redirects=False)
            given = response.json() if response.ok else {}
        except LOST as error:
            raise PushError(f"{host} gives no token ({type(error).__name__})", "check --token-url") from None
        except ValueError:
            raise PushError(f"{host} answers a request for a token with something else", "check --token-url") from None
        token = given.get("access_token") if isinstance(given, dict) else None
        if not isinstance(token, str) or not token:
            raise PushError(f"{host} gives no token for {scope.rpartition('/')[2]} ({_reason(response)})",
                            "check client id, key and --key-id, and that the tool may use grade services "
                            "(AGS) there") from None  # fmt: skip
        life = given.get("expires_in")
        seconds = float(life) if isinstance(life, int | float) and life > 0 else 3600.0
        return Secret(token, self._registration.token_url), started + seconds - min(30.0, seconds / 2)

    def _assertion(self) -> str:
        """Raises PushError for a key that does not sign, without showing it."""
        now, one = int(time.time()), self._registration
        claims = {
            "iss": one.client_id,
            "sub": one.client_id,
            "aud": one.audience or one.token_url,
            "iat": now,
            "exp": now + _LIFE,
            "jti": str(uuid.uuid4()),
        }
        headers = {"kid": one.key_id} if one.key_id else None
        try:
            pem = self._key.value.replace("\\n", "\n")  # an environment variable on one line
            return jwt.encode(claims, pem, algorithm="RS256", headers=headers)
        except (jwt.PyJWTError, ValueError, TypeError):
            raise PushError(f"the key in {self._key.origin} is no RSA private key in PEM form",
                            "it begins with -----BEGIN PRIVATE KEY-----") from None  # fmt: skip


def _reason(response: requests.Response) -> str:
    """OAuth's error word, which holds no secret; the description may repeat what was sent and is left out."""
    try:
        word = response.json().get("error")
    except (ValueError, AttributeError):
        word = None
    safe = isinstance(word, str) and word.replace("_", "").isalnum() and len(word) < 40
    return f"{response.status_code} {word}" if safe else str(response.status_code)
