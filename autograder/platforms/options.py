"""Values of options that are chosen from a list."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.errors import UsageError


def one_of(value: str, known: Sequence[str], option: str) -> None:
    """Raises UsageError when an option's value is not among the known ones."""
    if value not in known:
        raise UsageError(f"{value!r} is not known here; choose one of {', '.join(known)} with {option}")
