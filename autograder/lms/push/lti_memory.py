"""What this tool told an LTI platform last about each user, kept on disk: the time of the score, and if it was a 0.

A platform refuses a score that is not later than the one before, Moodle by whole seconds, so a time is never used
twice, not even by two runs in one second. And Moodle lists a 0 like no result at all, so that only a memory tells that
it is there. The file holds the platform's user numbers and times, no names, no scores, no token (mode 0600). Without it
nothing breaks: a 0 is sent again, and a score in the same second is refused once.
"""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec


class _Last(msgspec.Struct):
    time: datetime
    zero: bool = False
    """Whether the platform took a 0."""


class Memory:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._last: dict[str, _Last] = {}
        with suppress(OSError, msgspec.DecodeError):  # none yet, or damaged: see above
            self._last = msgspec.json.decode(path.read_bytes(), type=dict[str, _Last])

    def saw(self, user: str, time: datetime) -> None:
        """The platform has a score of that time, whoever it is from."""
        last = self._last.get(user)
        if last is None or last.time < time:
            self._last[user] = _Last(time)

    def next_time(self, user: str) -> datetime:
        """Now, or later: at least a second after the last one. Kept before it is used."""
        now, last = datetime.now(UTC), self._last.get(user)
        if last is not None:
            now = max(now, last.time.replace(microsecond=0) + timedelta(seconds=1))
        self._last[user] = _Last(now)
        self._save()
        return now

    def took_zero(self, user: str) -> None:
        self._last[user].zero = True
        self._save()

    def has_zero(self, user: str) -> bool:
        return user in self._last and self._last[user].zero

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(self._last))
        temporary.replace(self._path)
