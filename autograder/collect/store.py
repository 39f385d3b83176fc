"""One student's folder: the module and older attempts, changed in steps that lose nothing wherever they stop."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from autograder.errors import UsageError

ATTEMPTS = "attempts"
ORIGINAL = "original.ipynb"


class Store:
    """The folder of one student. With `dry` it only answers."""

    def __init__(self, folder: Path, module: str, *, dry: bool) -> None:
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise UsageError(f"{folder} is in the way: it is no folder; move it away")
        self._folder, self._module, self._dry = folder, module, dry

    @property
    def current(self) -> str | None:
        """The digest of the module in place."""
        path = self._folder / self._module
        return _digest(path) if path.is_file() and not path.is_symlink() else None

    def place(self, data: bytes, original: bytes | None) -> None:
        """Make `data` the module; what was there must have been kept before."""
        if original is not None:
            self._write(self._folder / ORIGINAL, original)
        self._write(self._folder / self._module, data)
        if original is None and not self._dry:
            (self._folder / ORIGINAL).unlink(missing_ok=True)

    def keep_current(self) -> str:
        """Copy the module in place (and the notebook it came from) to the attempts; returns its name there."""
        original = self._folder / ORIGINAL
        data = (self._folder / self._module).read_bytes()
        return self.keep(data, original.read_bytes() if original.is_file() else None)

    def keep(self, data: bytes, original: bytes | None = None) -> str:
        """Write an attempt, once: the same bytes are not kept twice. Returns its name below the student's folder."""
        digest, number = hashlib.sha256(data).hexdigest(), 0
        folder = self._folder / ATTEMPTS
        for path in sorted(folder.glob(f"*-{self._module}")) if folder.is_dir() else ():
            if match := re.match(r"(\d+)-", path.name):
                number = max(number, int(match[1]))
            if _digest(path) == digest:
                return f"{ATTEMPTS}/{path.name}"
        # not called like the module: a grader that looks for it below this folder must not find an older one
        name = f"{number + 1:03}-{self._module}"
        if original is not None:
            self._write(folder / f"{number + 1:03}-{ORIGINAL}", original)
        self._write(folder / name, data)
        return f"{ATTEMPTS}/{name}"

    def _write(self, path: Path, data: bytes) -> None:
        if not self._dry:
            write(path, data)


def write(path: Path, data: bytes) -> None:
    """Atomically, for its owner only."""
    private_folder(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}; nothing there was changed") from None


def private_folder(folder: Path) -> None:
    """Make `folder` and what is missing above it, for its owner only."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        private_folder(folder.parent)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror}; give --out another folder") from None


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; see its permissions") from None
