"""Finding the hand-in in what a platform received: never through a link, which could lead to the solution."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from autograder.errors import AutograderError
from autograder.render.prose import printable
from autograder.running import MAX_MODULE

_JUNK = {"__MACOSX", "__pycache__"}
_SHOWN = 8
_DEEPEST = 16


class NotHandedIn(AutograderError):
    """There is nothing to grade, and the student can repair that; the text says how."""


def read_hand_in(folder: Path, module: str) -> bytes:
    """The bytes of the one file called `module` in or below `folder`. Raises NotHandedIn."""
    files = list(_regular_files(folder, folder))
    direct = [path for path in files if path == Path(module)]
    found = direct or [path for path in files if path.name == module]
    if not found:
        names = ", ".join(_named(path) for path in sorted(files)[:_SHOWN]) or "no file"
        raise NotHandedIn(f"There is no {module} in your upload (it holds {names}). Upload {module} under this name.")
    if len(found) > 1:
        places = ", ".join(_named(path) for path in sorted(found)[:_SHOWN])
        raise NotHandedIn(f"Your upload holds several files {module}: {places}. Upload the one to grade.")
    return _read(folder / found[0], module)


def _regular_files(folder: Path, top: Path) -> Iterator[Path]:
    """Paths relative to `top`; links, devices, hidden folders and what archivers add are passed over."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                inner = len(Path(entry.path).relative_to(top).parts)
                if entry.name not in _JUNK and not entry.name.startswith(".") and inner < _DEEPEST:
                    yield from _regular_files(Path(entry.path), top)
            elif entry.is_file(follow_symlinks=False) and not entry.name.startswith("._"):
                yield Path(entry.path).relative_to(top)


def _read(path: Path, module: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise NotHandedIn(f"{module} is no regular file. Upload the file itself.")
        if state.st_size > MAX_MODULE:
            raise NotHandedIn(f"{module} has {state.st_size:,} bytes, at most {MAX_MODULE:,} are graded.")
        return file.read()


def _named(path: Path) -> str:
    return printable(path.as_posix().encode("utf-8", "backslashreplace").decode())[:80]
