"""Errors of a course's own files: each says the fact, the place and the remedy.

UsageError (autograder.errors)
└── CourseError
    ├── ManifestError    one line of one file
    └── ReleaseError     what students receive cannot be built
        └── LeakFound    it would contain what they must not see
"""

from __future__ import annotations

from pathlib import Path

from autograder.errors import UsageError


class CourseError(UsageError):
    """The course as a whole is not usable as asked."""


class ManifestError(CourseError):
    """A file that an author wrote is wrong at `line` (1-based)."""

    def __init__(self, path: Path, line: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.args = (path, line, message, remedy)
        self.path = path
        self.line = line

    def __str__(self) -> str:
        return f"{shown(self.path)}:{self.line}: {super().__str__()}"


class ReleaseError(CourseError):
    """Nothing was written: releasing would lose work or publish something wrong."""


class LeakFound(ReleaseError):
    """The students' kit would contain what students must not see; one line per finding."""

    def __init__(self, leaks: list[str]) -> None:
        super().__init__("the kit would leak:\n  " + "\n  ".join(leaks), "nothing was kept")
        self.args = (leaks,)
        self.leaks = leaks


def shown(path: Path) -> str:
    """`path` as a person wants to read it: relative to the current directory when it lies below."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)
