"""What the commands share: consoles, exit codes, finding the course."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    return find_course(Path.cwd())


def assignment(name: str) -> Assignment:
    return course().assignment(name)
