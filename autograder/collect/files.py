"""Files of a download before they are trusted: safe names, lazy bounded reading, refusals that are listed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.collect.text import shown
from autograder.errors import UsageError

MIB = 1 << 20
MAX_NOTEBOOK = 32 * MIB
MAX_METADATA = 64 * MIB
MAX_ARCHIVE = 128 * MIB
"""An archive inside a hand-in; it is held in memory while its student's files are looked at."""
MAX_UNPACKED = 256 * MIB
"""What all entries of an archive inside a hand-in may have together."""
MAX_FILE = 512 * MIB
MAX_ENTRIES = 20_000
MAX_SOURCE_ENTRIES = 500_000
MAX_DEPTH = 3
MAX_PARTS = 40
MAX_RATIO = 200
"""Expansion beyond which an entry of more than 1 MiB is taken for a bomb; source code and notebooks stay below 50."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2")
UNOPENED = (".rar", ".7z", ".tar.xz", ".txz", ".xz", ".gz", ".bz2", ".zst")

_JUNK = {
    "__macosx", ".ds_store", "thumbs.db", "desktop.ini", "__pycache__", ".ipynb_checkpoints", ".git", ".svn", ".hg",
    ".idea", ".vscode", ".venv", "venv", "site-packages", "node_modules", ".mypy_cache", ".pytest_cache",
    ".ruff_cache", ".fseventsd", ".spotlight-v100", ".trashes", "$recycle.bin", ".gitignore", ".gitattributes",
}  # fmt: skip
_UNNAMED = "unsafe name"
_DRIVE = re.compile(r"^[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Problem:
    """Something that a person has to look at: the fact, and what to do."""

    fact: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.fact}; {self.remedy}"


class Refused(UsageError):
    """A file that is not read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def refused(fact: str, remedy: str) -> Refused:
    return Refused(Problem(fact, remedy))


Reader = Callable[[int], bytes]
"""Reads the whole file, or refuses it when it has more bytes than that."""


@dataclass(frozen=True)
class File:
    """A file of a download. `path` is relative and clean; `origin` is what a person recognises it by."""

    path: tuple[str, ...]
    origin: str
    size: int
    read: Reader
    problem: Problem | None = None
    """Why it is never read: a link, a bomb, an entry that is there twice ..."""

    @property
    def name(self) -> str:
        return self.path[-1]

    def below(self, depth: int = 1) -> File:
        """The same file seen from a folder further in."""
        return File(self.path[depth:], self.origin, self.size, self.read, self.problem)


@dataclass
class Listing:
    """What is in a folder or an archive."""

    files: list[File] = field(default_factory=list)
    folders: set[tuple[str, ...]] = field(default_factory=set)
    clones: set[tuple[str, ...]] = field(default_factory=set)
    """Folders that hold a `.git`."""
    unplaced: list[tuple[str, Problem]] = field(default_factory=list)
    """Entries whose very name is unsafe, so that nobody can be told to own them."""

    def below(self, folder: str) -> Listing:
        """What is in `folder`."""
        return Listing(
            [file.below() for file in self.files if len(file.path) > 1 and file.path[0] == folder],
            {path[1:] for path in self.folders if len(path) > 1 and path[0] == folder},
            {path[1:] for path in self.clones if path[:1] == (folder,)},
            self.unplaced,
        )

    def split(self) -> dict[str, Listing]:
        """Every folder at the top, each seen from within it; in one pass."""
        result = {name: Listing() for name in self.top_folders}
        for file in self.files:
            if len(file.path) > 1:
                result[file.path[0]].files.append(file.below())
        for path in self.folders:
            if len(path) > 1:
                result[path[0]].folders.add(path[1:])
        return result

    @property
    def top_folders(self) -> list[str]:
        inner = {file.path[0] for file in self.files if len(file.path) > 1}
        return sorted(inner | {path[0] for path in self.folders})

    @property
    def top_files(self) -> list[File]:
        return [file for file in self.files if len(file.path) == 1]

    def by_folder(self) -> dict[str, list[File]]:
        """The files of each folder at the top, seen from within it; empty folders too."""
        result: dict[str, list[File]] = {name: [] for name in self.top_folders}
        for file in self.files:
            if len(file.path) > 1:
                result[file.path[0]].append(file.below())
        return result


def clean_path(name: str) -> tuple[str, ...]:
    """The parts of an entry's name; backslashes separate, as in archives made on Windows.

    Raises:
        Refused: the name leads out of its folder, is absolute, or holds control characters.
    """
    if _CONTROL.search(name):
        raise refused("a name with control characters", "do not use it; ask the student for a new archive")
    name = name.replace("\\", "/")
    if name.startswith("/") or _DRIVE.match(name):
        raise refused("an absolute path", "do not unpack it by hand; ask the student for a new archive")
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    if ".." in parts:
        raise refused("a path that leads out of its folder", "do not unpack it by hand; ask who made the archive")
    if len(parts) > MAX_PARTS or len(name) > 2000:
        raise refused("a path that is too long", "ask the student for the file itself")
    return parts


def is_junk(path: tuple[str, ...]) -> bool:
    """What operating systems and tools leave behind; nobody's hand-in."""
    return any(part.casefold() in _JUNK or part.startswith("._") for part in path)


def is_clone(path: tuple[str, ...]) -> bool:
    return ".git" in path


def suffix(name: str) -> str:
    """The end of a name that tells its kind, both parts of a double one such as `.tar.gz`."""
    name = name.casefold()
    for known in (*ARCHIVES, *UNOPENED):
        if name.endswith(known):
            return known
    return os.path.splitext(name)[1]


def list_folder(root: Path) -> Listing:
    """What is in the folder `root`; links, devices and what cannot be opened are there as problems."""
    listing = Listing()
    for number, (entry, path, problem) in enumerate(_walk(str(root), ())):
        if number >= MAX_SOURCE_ENTRIES:
            raise UsageError(f"{root} has more than {MAX_SOURCE_ENTRIES:,} entries; is it the right folder?")
        if is_clone(path):
            listing.clones.add(path[: path.index(".git")])
        if is_junk(path):
            continue
        origin = shown("/".join((*path[:-1], entry.name)))
        if problem is not None and not path:
            listing.unplaced.append((shown(entry.name), problem))
        elif problem is not None:
            listing.files.append(File(path, origin, 0, _never, problem))
        elif entry.is_dir(follow_symlinks=False):
            listing.folders.add(path)
        else:
            size = entry.stat(follow_symlinks=False).st_size
            listing.files.append(File(path, origin, size, _disk_reader(entry.path)))
    return listing


Found = tuple["os.DirEntry[str]", tuple[str, ...], Problem | None]


def _walk(folder: str, above: tuple[str, ...]) -> Iterator[Found]:
    with os.scandir(folder) as entries:
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        try:
            path = (*above, *clean_path(entry.name))
            if len(path) > MAX_PARTS:
                raise refused("too many folders inside each other", "ask the student for the file itself")
        except Refused as error:
            yield entry, (*above, _UNNAMED) if above else (), error.problem
            continue
        problem = _entry_problem(entry)
        yield entry, path, problem
        if problem is None and entry.is_dir(follow_symlinks=False) and not is_junk(path):
            try:
                yield from _walk(entry.path, path)
            except OSError as error:
                yield entry, path, Problem(f"a folder that cannot be opened ({error.strerror})", "see its permissions")


def _entry_problem(entry: os.DirEntry[str]) -> Problem | None:
    mode = entry.stat(follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        return Problem("a symbolic link, not followed", "ask the student for the file itself")
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        return Problem("neither a file nor a folder", "ask the student for the file itself")
    return None


def _disk_reader(path: str) -> Reader:
    def read(limit: int) -> bytes:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                return bounded(file.read(limit + 1), limit)
        except OSError as error:
            raise refused(f"cannot be read ({error.strerror})", "see its permissions") from None

    return read


def _never(limit: int) -> bytes:
    raise AssertionError("a file with a problem is not read")


never: Reader = _never


def bounded(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise refused(f"larger than {limit:,} bytes", "ask whether it is the right file")
    return data
