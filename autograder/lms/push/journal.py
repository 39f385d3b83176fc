"""Batches that Canvas may still be working on, kept on disk so that a push that was killed is continued.

A batch is a job that Canvas runs some time after it has taken it, and a comment in it is added each time the job runs.
So a push that follows a killed one must first know how the earlier job ended. Grades need no journal: reading them is
enough. The file holds Canvas's user numbers and hashes of comments, no names, no grades, no token (mode 0600), and
goes away when nothing is open.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from autograder.lms.push.errors import PushError


class Batch(msgspec.Struct):
    sent: float
    """Unix time, seconds."""
    comments: dict[str, str]
    """User to the mark of the comment that went out."""
    progress: int | None = None
    """Canvas's number of the job; None as long as no answer came."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    target: str
    open: list[Batch]


class Journal:
    """`open` lists what may still be going on, oldest first."""

    def __init__(self, path: Path, target: str) -> None:
        self._path, self._target = path, target
        self.open: list[Batch] = []
        if path.exists():
            self._load()

    def _load(self) -> None:
        try:
            found = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except (OSError, msgspec.DecodeError):
            raise PushError(f"{self._path} cannot be read: it says which batches of an earlier push are open",
                            "look in the LMS whether comments arrived, then delete the file") from None  # fmt: skip
        if found.target != self._target:
            raise PushError(f"{self._path} is the journal of {found.target}", "choose another with --journal")
        self.open = found.open

    def begin(self, comments: dict[str, str]) -> Batch:
        """To be called before the batch goes out."""
        batch = Batch(time.time(), comments)
        self.open.append(batch)
        self.save()
        return batch

    def end(self, batch: Batch) -> None:
        self.open = [one for one in self.open if one is not batch]
        self.save()

    def save(self) -> None:
        """Whole or not at all."""
        if not self.open:
            self._path.unlink(missing_ok=True)
            return
        temporary = self._path.with_suffix(".new")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.encode(_File(self._target, self.open)))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._path)


@contextmanager
def alone(path: Path, target: str) -> Iterator[None]:
    """Only one push to a column at a time on this machine. Raises PushError when another is running."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise PushError(f"{path.parent} cannot be written ({error.strerror})", "choose a file with --journal") from None
    try:
        if not _lock(descriptor):
            raise PushError(f"another push to {target} is running", "wait until it is done")
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """False when another process has it. A system without such locks is taken to have one user."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
