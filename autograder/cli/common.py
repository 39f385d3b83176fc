"""What the commands share: consoles, exit codes, finding the course."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import UsageError
from autograder.manifest import Assignment, Course, find_course

if TYPE_CHECKING:
    from rich.console import Console

EXIT_FAILED, EXIT_USAGE, EXIT_GRADER = 1, 2, 3


def stdout(*, width: int | None = None) -> Console:
    from rich.console import Console

    return Console(highlight=False, width=width or _width(sys.stdout))


def stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=_width(sys.stderr))


def _width(stream: object) -> int | None:
    """A wide page where no terminal sets the width, so that lines of a log are not folded."""
    return None if getattr(stream, "isatty", lambda: False)() else 160


def course() -> Course:
    """The course around the current directory."""
    try:
        here = Path.cwd()
    except OSError:  # deleted, or below a folder that may not be entered
        raise UsageError("the current folder is no longer there; change into your copy of the course") from None
    return find_course(here)


def assignment(name: str) -> Assignment:
    return course().assignment(name)
