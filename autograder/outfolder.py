"""The folder of records that `grade` fills: whole files only, one run at a time, earlier results kept for comparison.

Whatever kills a run leaves complete records. A record that is replaced waits in `.before` until a run has come to its
end and has said what changed, so that a regrade tells all differences even when it was stopped in between.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder import record as rec
from autograder.errors import UsageError

_TEMPORARY = re.compile(r"^\..*\.json\.\d+$")


@dataclass(frozen=True)
class Change:
    """What a regrade did to a student's score; None is a grader error, which is no grade."""

    student: str
    before: float | None
    after: float | None
    why: str


class OutFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._earlier = path / ".before"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The folder, made if need be, without another `grade` at work in it."""
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise UsageError(
                f"{self.path} cannot be the output folder: {error.strerror}; choose another --out"
            ) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UsageError(
                f"another `autograder grade` is writing to {self.path}; wait for it, or choose another --out"
            ) from None
        except OSError:  # a network file system without locks: two runs would only do the work twice
            pass
        try:
            for path in self.path.iterdir():
                if _TEMPORARY.match(path.name):  # of a run that was killed while it wrote
                    path.unlink(missing_ok=True)
            yield
        finally:
            os.close(descriptor)

    def file(self, student: str) -> Path:
        return self.path / f"{student}.json"

    def read(self, student: str) -> rec.Record | None:
        """The student's record; None when there is none, or one that is damaged or of another version."""
        return _read(self.file(student))

    def write(self, record: rec.Record) -> None:
        """Replace the student's record, readable by its owner only."""
        path = self.file(record.submission.id)
        kept = self._earlier / path.name
        try:
            if path.exists() and not kept.exists():
                self._earlier.mkdir(mode=0o700, exist_ok=True)
                _replace(kept, path.read_bytes())
            _replace(path, rec.encode(record))
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror}; records written so far are complete"
            ) from None

    def changes(self) -> list[Change]:
        """Every student graded again since a run last came to its end, by name."""
        kept = sorted(self._earlier.glob("*.json")) if self._earlier.is_dir() else []
        changes = []
        for path in kept:
            before, after = _read(path), self.read(path.stem)
            if before is not None and after is not None:
                changes.append(Change(path.stem, before.score, after.score, _why(before, after)))
        return changes

    def forget_earlier(self) -> None:
        """What has been told; results that only a grader error followed are kept for the next run."""
        for change in self.changes():
            if change.after is not None:
                (self._earlier / f"{change.student}.json").unlink(missing_ok=True)


def _read(path: Path) -> rec.Record | None:
    try:
        return rec.decode(path.read_bytes())
    except (OSError, ValueError):
        return None


def _why(before: rec.Record, after: rec.Record) -> str:
    if before.submission.files != after.submission.files:
        return "another file"
    return "another kit" if before.kit_version != after.kit_version else "the same file and kit"


def _replace(path: Path, data: bytes) -> None:
    """Write whole or not at all, whoever kills us."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
