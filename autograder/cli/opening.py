"""What the commands that use a gradebook share: its options, where it is, and opening it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.common import course
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.gradebook.database import Database
    from autograder.lms.records import Collected

FILE = "gradebook.db"
_WIDE = 250
"""Columns of a table where no terminal sets the width: a log is searched, not looked at."""

Db = Annotated[
    str | None,
    typer.Option("--db", envvar="AUTOGRADER_DB", metavar="FILE|URL", show_envvar=True, show_default=False,
                 help="A SQLite file, or postgresql://user@host/name; default gradebook.db beside course.yaml."),
]  # fmt: skip
By = Annotated[
    str | None,
    typer.Option("--author", envvar="AUTOGRADER_AUTHOR", metavar="NAME", show_envvar=True, show_default=False,
                 help="Who is written into the log; default your login."),
]  # fmt: skip


@contextmanager
def opened(given: str | None) -> Iterator[Database]:
    """The gradebook that is there; raises UsageError (GradebookError) when it cannot be used."""
    require_packages()
    from autograder.gradebook.database import open_database

    with open_database(place(given)) as database:
        yield database


def place(given: str | None) -> str:
    """Where the gradebook is: what was given, else its usual place in the course."""
    return given or str(course().root / FILE)


def gradebook_place(given: str | None) -> str | None:
    """The gradebook to take grades from: the one that was named, else the one of the course, else none."""
    usual = in_course(FILE)
    return given or (str(usual) if usual is not None and usual.is_file() else None)


def in_course(*parts: str) -> Path | None:
    """A place in the course around the current folder; None outside of one."""
    from autograder.manifest import CourseError, find_course

    try:
        return find_course(Path.cwd()).root.joinpath(*parts)
    except CourseError:
        return None


def require_packages() -> None:
    from importlib.util import find_spec

    missing = [name for name in ("sqlalchemy", "alembic") if find_spec(name) is None]
    if missing:
        fact = f"the gradebook needs {' and '.join(missing)}, which is not installed"
        raise UsageError(fact, "pip install 'ml-systems-autograder[staff]'")


def require_grades(database: Database, name: str, collected: Collected) -> None:
    """Where nothing was ever imported everybody would look as if they had handed nothing in."""
    if not collected.grades and not collected.no_grades:
        raise UsageError(f"{database.label} has no students yet", "autograder gradebook roster roster.csv")
    if not collected.no_grades and all(grade.state == "missing" for grade in collected.grades):
        raise UsageError(f"{database.label} knows no hand-in of {name}", f"autograder gradebook import {name}")


def table_width() -> int | None:
    return None if sys.stdout.isatty() else _WIDE
