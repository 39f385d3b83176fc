"""`autograder nbgrader setup`: an assignment into `source/`, ready for `nbgrader generate_assignment`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course.strict_yaml import read_text
from autograder.errors import UsageError
from autograder.manifest import Assignment
from autograder.nbgrader_bridge.cells import CheckCell, check_cells
from autograder.nbgrader_bridge.course import CONFIG, NbCourse
from autograder.nbgrader_bridge.notebook import source_notebook
from autograder.release import generate


@dataclass(frozen=True)
class Done:
    """What a setup did."""

    folder: Path
    notebook: str
    cells: Sequence[CheckCell]
    written: Sequence[str]
    unchanged: Sequence[str]
    configured: bool
    """Whether a line was added to nbgrader's configuration."""


def set_up(assignment: Assignment, course: NbCourse, *, force: bool = False) -> Done:
    """Write the author's notebook with a cell per check, the module's stub and what is released with it.

    The module is the *stub*: nbgrader releases whatever lies in `source/` and is no notebook. Raises UsageError before
    anything is written when a file there has other contents (unless `force`).
    """
    folder = course.place("source", ".", assignment.id)
    cells = check_cells(assignment)
    notebook, files = _files(assignment, cells)
    written = [name for name, data in files.items() if not _holds(folder / name, data)]
    changed = [name for name in written if (folder / name).exists()]
    if changed and not force:
        remedy = "carry over what you changed there into the course, then repeat with --force"
        raise UsageError(f"{folder} has other contents in {', '.join(changed)}", remedy)
    for name in written:
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(files[name])
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}", "check its permissions") from None
    unchanged = [name for name in files if name not in written]
    return Done(folder, notebook, cells, written, unchanged, _keep_hand_in(assignment, course))


def _files(assignment: Assignment, cells: Sequence[CheckCell]) -> tuple[str, dict[str, bytes]]:
    """The name of the notebook with the cells, and all files."""
    files = generate(assignment)
    notebooks = [name for name in files if name.endswith(".ipynb") and "/" not in name]
    own = f"{assignment.id}.ipynb"
    chosen = own if own in notebooks or not notebooks else notebooks[0]
    for name in {chosen: None, **dict.fromkeys(notebooks)}:
        path = _source_dir(assignment) / name
        text = read_text(path) if name in notebooks else None
        files[name] = source_notebook(assignment, path, text, cells if name == chosen else []).encode()
    return chosen, files


def _source_dir(assignment: Assignment) -> Path:
    folder = assignment.source_dir
    assert folder is not None  # or `generate` has said so
    return folder


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def _keep_hand_in(assignment: Assignment, course: NbCourse) -> bool:
    """`nbgrader autograde` would put the stub over every student's module; its configuration must say otherwise."""
    if assignment.module in course.kept_files(assignment.id):
        return False
    path = course.root / CONFIG
    kept = [*course.kept_files(assignment.id), assignment.module]
    entry = f"get_config().Autograde.exclude_overwriting.update({{{assignment.id!r}: {kept!r}}})"
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n# {assignment.module} is what students hand in: their copy stays.\n{entry}\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", f"add this line to it: {entry}") from None
    return True
