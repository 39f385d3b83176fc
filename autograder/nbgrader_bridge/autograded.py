"""`autograded/<student>/<assignment>/`: what formgrader shows of a hand-in, made without running any of it.

nbgrader's own preprocessors restore what students must not change; the cells of checks show the grader's words as
their output.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.nbgrader_bridge.cells import is_ours
from autograder.nbgrader_bridge.course import NbCourse, plain_file

PRIVATE, SHARED = 0o600, 0o660


@dataclass(frozen=True)
class Shelf:
    """The folder of one hand-in among the graded ones."""

    course: NbCourse
    assignment: str
    notebook: str
    student: str

    @property
    def folder(self) -> Path:
        return self.course.place("autograded", self.student, self.assignment)

    @property
    def path(self) -> Path:
        return self.folder / f"{self.notebook}.ipynb"

    def shows(self, outputs: Mapping[str, str]) -> bool:
        """Whether the notebook is there and its cells say this already."""
        try:
            cells = json.loads(self.path.read_bytes())["cells"]
            found = {_name(cell): _printed(cell) for cell in cells}
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return False
        return all(found.get(name) == text for name, text in outputs.items())

    def fill(self, gradebook: Any, outputs: Mapping[str, str], *, anew: bool, module: str) -> str:
        """Write the notebook, and with `anew` the rest of the hand-in; returns what was odd about it, or nothing."""
        nbformat = _nbformat()
        problem = ""
        notebook = None if anew else _read(self.path.read_bytes() if self.path.is_file() else None)
        if notebook is None:
            notebook, problem = self._restored()
        self._add_missing(gradebook, notebook)
        for cell in notebook.cells:
            name = _name(cell)
            if name in outputs:
                cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text=outputs[name])]
        self._write(self.path.name, nbformat.writes(notebook).encode("utf-8", "replace"))
        if anew:
            source = self.course.place("submitted", self.student, self.assignment)
            for name in (module, "timestamp.txt"):
                data = plain_file(source, name)
                if data is None:
                    (self.folder / name).unlink(missing_ok=True)
                else:
                    self._write(name, data)
        return problem

    def _restored(self) -> tuple[Any, str]:
        """The student's notebook as nbgrader would begin to grade it; the released one where there is none to read."""
        name = f"{self.notebook}.ipynb"
        data = plain_file(self.course.place("submitted", self.student, self.assignment), name)
        notebook = _read(data)
        problem = "" if notebook is not None else f"{name} {'cannot be read' if data else 'was not handed in'}"
        if notebook is not None:
            notebook, ok = self._sanitized(notebook)
            problem = "" if ok else f"{name} cannot be used"
        if problem:
            released = _read(plain_file(self.course.place("release", ".", self.assignment), name))
            notebook = (self._sanitized(released)[0] if released is not None else None) or _blank()
        return notebook, problem

    def _sanitized(self, notebook: Any) -> tuple[Any, bool]:
        from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, DeduplicateIds, OverwriteCells
        from nbgrader.preprocessors import OverwriteKernelspec as Kernel

        resources = {
            "nbgrader": {
                "student": self.student,
                "assignment": self.assignment,
                "notebook": self.notebook,
                "db_url": self.course.app.coursedir.db_url,
            }
        }
        try:
            for step in (ClearOutput, DeduplicateIds, Kernel, OverwriteCells, CheckCellMetadata):
                notebook, resources = step(parent=self.course.app).preprocess(notebook, resources)
        except Exception:  # whatever a student's file makes of nbgrader: the file is not used
            return None, False
        return notebook, True

    def _add_missing(self, gradebook: Any, notebook: Any) -> None:
        """Cells of checks that the student has deleted, at the end."""
        from nbgrader.preprocessors import OverwriteCells

        there = {_name(cell) for cell in notebook.cells}
        stored = gradebook.find_notebook(self.notebook, self.assignment)
        points = {cell.name: (cell.max_score, False) for cell in stored.grade_cells}
        points |= {cell.name: (cell.max_score, True) for cell in stored.task_cells}
        for source in stored.source_cells:
            if is_ours(source.name) and source.name not in there and source.name in points:
                full, task = points[source.name]
                cell = OverwriteCells().missing_cell_transform(source, full, is_task=task)
                cell["id"] = source.name[-64:]
                notebook.cells.append(cell)

    def _write(self, name: str, data: bytes) -> None:
        """Whole or not at all. Private, unless instructors share the course."""
        shared = self.course.is_shared
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o2770 if shared else 0o700)
        descriptor, temporary = tempfile.mkstemp(prefix=".autograder-", dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.chmod(temporary, SHARED if shared else PRIVATE)
            os.replace(temporary, self.folder / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _read(data: bytes | None) -> Any:
    """A notebook of nbgrader's present format; None for everything else, since students can hand in anything."""
    from nbgrader import nbgraderformat

    if data is None:
        return None
    try:
        return nbgraderformat.reads(data.decode("utf-8"), as_version=4)
    except Exception:
        return None


def _blank() -> Any:
    return _nbformat().v4.new_notebook()


def _nbformat() -> Any:
    """Its functions have no types."""
    import nbformat

    return nbformat


def _name(cell: Any) -> str:
    metadata = cell.get("metadata", {}).get("nbgrader", {})
    return str(metadata.get("grade_id", "")) if isinstance(metadata, dict) else ""


def _printed(cell: Any) -> str:
    texts = [output.get("text", "") for output in cell.get("outputs", [])]
    return "".join(text if isinstance(text, str) else "".join(text) for text in texts)
