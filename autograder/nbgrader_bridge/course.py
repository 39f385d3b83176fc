"""nbgrader's course folder as its own configuration describes it, and its gradebook."""

from __future__ import annotations

import glob
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.errors import UsageError

CONFIG = "nbgrader_config.py"
MAX_NOTEBOOK = 32 << 20
"""A student's notebook beyond this is not read."""


@dataclass(frozen=True)
class NbCourse:
    """Where nbgrader keeps things. Paths name places that need not exist."""

    app: Any
    """nbgrader's application object, which holds the configuration."""
    root: Path

    def place(self, step: str, student: str, assignment: str) -> Path:
        """The folder of a step: `source`, `release`, `submitted` or `autograded`, under whatever name it has here."""
        coursedir = self.app.coursedir
        name = getattr(coursedir, f"{step}_directory")
        return Path(coursedir.format_path(name, student, assignment))

    @property
    def is_shared(self) -> bool:
        """Whether the files belong to a group of instructors."""
        return bool(self.app.coursedir.groupshared)

    def submitted(self, assignment: str) -> list[str]:
        """The students with a folder of hand-ins, found as nbgrader finds them."""
        coursedir, step = self.app.coursedir, self.app.coursedir.submitted_directory
        pattern = re.compile(coursedir.format_path(step, "(?P<student>.*)", re.escape(assignment), escape=True))
        folders = [path for path in glob.glob(coursedir.format_path(step, "*", assignment)) if os.path.isdir(path)]
        return sorted(found["student"] for path in folders if (found := pattern.fullmatch(path)))

    def kept_files(self, assignment: str) -> list[str]:
        """What `nbgrader autograde` leaves as the student handed it in."""
        from nbgrader.converters import Autograde

        kept = Autograde(coursedir=self.app.coursedir, parent=self.app).exclude_overwriting
        return [str(name) for name in kept.get(assignment, [])]

    @contextmanager
    def gradebook(self) -> Iterator[Any]:
        """nbgrader's gradebook, an error of its database as one of ours. Raises UsageError when there is none yet."""
        from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
        from nbgrader.api import Gradebook
        from sqlalchemy.exc import OperationalError, SAWarning

        url = str(self.app.coursedir.db_url)
        path = Path(url.removeprefix("sqlite:///"))
        if url.startswith("sqlite:///") and not path.is_file():
            raise UsageError(f"{path} is not there", "make it with: nbgrader generate_assignment")
        try:
            with warnings.catch_warnings(), Gradebook(url, self.app.coursedir.course_id) as gradebook:
                for category in (SAWarning, DuplicateCellId, MissingIDFieldWarning):  # nbgrader's, and hand-ins'
                    warnings.simplefilter("ignore", category)
                yield gradebook
        except OperationalError as error:
            remedy = "close what else is writing and repeat; after an update of nbgrader: nbgrader db upgrade"
            raise UsageError(f"nbgrader's gradebook cannot be used ({error.orig})", remedy) from None


def open_course(folder: Path) -> NbCourse:
    """nbgrader's course in `folder`, with all configuration that nbgrader itself would read there.

    Raises UsageError when nbgrader is not installed or the folder is none of its courses.
    """
    require_nbgrader()
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", "name nbgrader's course folder with --course")
    root = folder.resolve()
    if not (root / CONFIG).is_file() and not (root / "source").is_dir():
        remedy = f"name the folder with {CONFIG} with --course, or make one with: nbgrader quickstart NAME"
        raise UsageError(f"{folder} has no {CONFIG} and no folder source", remedy)
    _find_programs()
    from nbgrader.apps import NbGrader

    app = NbGrader(log_level=logging.ERROR)
    paths = list(sys.path)
    with chdir(root):  # nbgrader reads the configuration of the folder it is started in
        app.initialize([], root=str(root))
    sys.path[:] = paths
    return NbCourse(app, Path(app.coursedir.root))


def require_nbgrader() -> None:
    if find_spec("nbgrader") is None:
        raise UsageError("nbgrader is not installed", "pip install 'ml-systems-autograder[staff]'")


def _find_programs() -> None:
    """nbgrader starts `alembic` by name: a virtual environment need not be activated for that."""
    own = str(Path(sys.executable).parent)
    places = os.environ.get("PATH", os.defpath).split(os.pathsep)
    if own not in places:
        os.environ["PATH"] = os.pathsep.join([own, *places])


def plain_file(folder: Path, name: str, limit: int = MAX_NOTEBOOK) -> bytes | None:
    """A file of a hand-in; None for none, for one that a link leads to, and for one that is too large."""
    path = folder / name
    if folder.is_symlink() or folder.parent.is_symlink() or path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size > limit:
        return None
    try:
        return path.read_bytes()
    except OSError:
        return None


def timestamp_of(folder: Path) -> Any:
    """When it was handed in, as nbgrader's naive UTC time; None when nothing readable says so."""
    from nbgrader.utils import parse_utc

    data = plain_file(folder, "timestamp.txt", 1000)
    text = (data or b"").decode("utf-8", "replace").strip()
    try:
        return parse_utc(text) if text else None
    except (ValueError, OverflowError, TypeError):
        return None
