"""The file that an export writes: in a place that is safe, whole or not at all, and private."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from autograder.errors import UsageError


def require_place(output: Path, inputs: Sequence[Path]) -> None:
    """Raises UsageError where no file can be written, and where one of the inputs would be overwritten."""
    if output.is_dir() or not output.parent.is_dir():
        raise UsageError(f"{output} cannot be written: give a file name in a folder that exists with -o")
    for path in inputs:
        if output.exists() and path.exists() and output.samefile(path):
            raise UsageError(f"{output} is also an input; choose another name with -o, the original is your backup")


@contextmanager
def written(path: Path, data: bytes) -> Iterator[None]:
    """A file that is whole or not there at all, readable by its owner only (mode 0600).

    While the block runs it is complete under a hidden name; it gets its own name after it, and only if it succeeds.
    """
    temporary = None
    try:
        with _told(path):
            descriptor, name = tempfile.mkstemp(prefix=".export-", dir=path.parent)
            temporary = Path(name)
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        yield
        with _told(path):
            temporary.replace(path)
    except BaseException:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fact = f"{path} cannot be written ({error.strerror}); an older file of that name is still there"
        raise UsageError(fact, "make room, or choose another folder with -o") from None
