"""The notebook for nbgrader's `source/`: the author's own, followed by a cell per check.

A check's cell computes nothing, for whatever runs in the kernel runs beside the student's code. For a student it is a
comment. `nbgrader autograde` runs it with its hidden part, which fails: no points until the grader has spoken.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.course.errors import ManifestError
from autograder.manifest import Assignment
from autograder.nbgrader_bridge.cells import SEVERAL, CheckCell, is_ours, remarks_id
from autograder.render.terminal import number

SCHEMA = 3
"""Of nbgrader's cell metadata."""

_CELL = """\
# {what}, {points}. This cell computes nothing: its points come from the grader, which runs {module}.
### BEGIN HIDDEN TESTS
# {title}
import os

if os.environ.get("NBGRADER_EXECUTION") != "validate":
    raise RuntimeError("no points yet: grade {module}, then run 'autograder nbgrader scores {id}'")
### END HIDDEN TESTS"""


def source_notebook(assignment: Assignment, path: Path, text: str | None, cells: Sequence[CheckCell]) -> str:
    """The author's notebook `text` (None: there is none) with the cells of the checks, as deterministic JSON."""
    notebook = _empty() if text is None else json.loads(text)
    for cell in notebook["cells"]:
        name = str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))
        if is_ours(name):
            raise ManifestError(path, 1, f"the grade_id {name!r} begins like those of checks", "choose another")
    notebook["cells"] += _cells(assignment, cells)
    notebook["nbformat_minor"] = max(5, notebook["nbformat_minor"])
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _cells(assignment: Assignment, cells: Sequence[CheckCell]) -> list[dict[str, Any]]:
    total = number(sum(cell.points for cell in cells))
    made = [_markdown("module", f"# {assignment.module}\n\nHand in `{assignment.module}` together with this notebook. "
                                f"The grader runs it and gives {total} points, check by check; its remarks appear "
                                "below. Nothing of what follows need be run.")]  # fmt: skip
    titles = {stub.name: f"{stub.name}: {stub.title}" for stub in assignment.stubs} | {SEVERAL: "Several functions"}
    for section in dict.fromkeys(cell.section for cell in cells):
        inside = [cell for cell in cells if cell.section == section]
        made.append(_remarks(section, titles.get(section, section), inside))
        made += [_check(assignment, cell) for cell in inside]
    return made


def _remarks(section: str, title: str, cells: Sequence[CheckCell]) -> dict[str, Any]:
    """nbgrader keeps comments only for cells that people grade: a task worth nothing."""
    points = number(sum(cell.points for cell in cells))
    many = f"{len(cells)} check{'s' if len(cells) > 1 else ''}"
    name = remarks_id(section)
    cell = _markdown(name, f"## {title}\n\n{many}, {points} points.")
    cell["metadata"]["nbgrader"] = _metadata(name, points=0, task=True, locked=True)
    return cell


def _check(assignment: Assignment, cell: CheckCell) -> dict[str, Any]:
    name = cell.grade_id
    points = f"{number(cell.points)} point{'' if cell.points == 1 else 's'}"
    source = _CELL.format(
        what=cell.title if cell.public else "A hidden check",
        points=points,
        title=cell.title,
        module=assignment.module,
        id=assignment.id,
    )
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": name[-64:],
        "metadata": {"nbgrader": _metadata(name, points=cell.points, grade=True, locked=True)},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }


def _markdown(name: str, text: str) -> dict[str, Any]:
    return {
        "cell_type": "markdown",
        "id": f"text-{name}"[-64:],
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }


def _metadata(
    name: str, *, points: float, grade: bool = False, locked: bool = False, task: bool = False
) -> dict[str, Any]:
    return {
        "grade": grade,
        "grade_id": name,
        "locked": locked,
        "points": points,
        "schema_version": SCHEMA,
        "solution": False,
        "task": task,
    }


def _empty() -> dict[str, Any]:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": [], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
