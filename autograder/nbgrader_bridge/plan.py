"""What writing a class's scores would change in nbgrader's gradebook, worked out before anything is written."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from autograder import record as rec
from autograder.errors import UsageError
from autograder.lms.grades import Identity
from autograder.lms.records import collect_grades
from autograder.lms.roster import RosterLine
from autograder.manifest import Assignment
from autograder.nbgrader_bridge.autograded import Shelf
from autograder.nbgrader_bridge.cells import CHECK, REMARKS, is_ours
from autograder.nbgrader_bridge.course import NbCourse, plain_file, timestamp_of
from autograder.nbgrader_bridge.remarks import Marks, marks_of
from autograder.running import MAX_MODULE

MAX_FILES = 2000
"""Of one hand-in, among which the graded one is looked for."""
_CLOSE = 1e-3
"""Points that differ by less are equal: cases share a check's points, each rounded to six digits."""


@dataclass
class Change:
    """One student for whom something is new."""

    student: str
    marks: Marks
    shelf: Shelf
    timestamp: Any
    identity: Identity | None = None
    """From the roster, for a student whom nbgrader does not know yet."""
    is_new_student: bool = False
    anew: bool = False
    """The graded folder is made anew: there is none, or it is of another hand-in."""
    again: bool = False
    """Handed in again since nbgrader last graded it: what it knows of the notebook's own cells is of another one."""
    had: float | None = None
    """Points of all checks as nbgrader has them; None for no submission."""
    points: dict[str, float] = field(default_factory=dict)
    """Of the cells whose points change."""
    comments: dict[str, str] = field(default_factory=dict)
    manual: list[str] = field(default_factory=list)
    """Cells of checks to which a person gave points: these stay, and nbgrader asks for another look."""

    @property
    def total(self) -> float:
        return sum(self.marks.points.values())


@dataclass
class Plan:
    """Everyone with a record or a hand-in."""

    assignment: str
    notebook: str
    changes: list[Change] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    """Student or file, and why nothing is written."""
    without_record: list[str] = field(default_factory=list)


class Planner:
    def __init__(self, assignment: Assignment, course: NbCourse, gradebook: Any, roster: Sequence[RosterLine]) -> None:
        self._assignment, self._course, self._gradebook = assignment, course, gradebook
        self._lines = {line.student.id: line.student for line in roster}
        self._submitted = course.submitted(assignment.id)
        self._students = {str(student.id) for student in gradebook.students}
        self._notebook, self._cells = self._find_cells()

    def plan(self, folder: Path) -> Plan:
        """Raises UsageError when there are no records, or nbgrader does not have the cells of the checks."""
        plan = Plan(self._assignment.id, self._notebook)
        for entry in collect_grades(folder, [], self._assignment.id).no_grades:
            plan.left_out[entry.student] = entry.reason.partition(": ")[2]
        records = _records(folder, plan)
        named: dict[str, list[str]] = {}
        for key in records:
            found = self._student(key)
            if isinstance(found, _NotFound):
                plan.left_out[key] = found.reason
            else:
                named.setdefault(found, []).append(key)
        for student, keys in named.items():
            if len(keys) > 1:
                problem = f"{' and '.join(keys)} are all {student} in nbgrader: correct the roster, or keep one record"
                plan.left_out |= dict.fromkeys(keys, problem)
            elif problem := self._problem(student, records[keys[0]]):
                plan.left_out[student] = problem
            else:
                self._add(plan, student, records[keys[0]], self._lines.get(keys[0]))
        plan.without_record = sorted(set(self._submitted) - set(named) - set(plan.left_out))
        return plan

    def _find_cells(self) -> tuple[str, dict[str, float]]:
        """The notebook that holds the cells of checks, and the points of each."""
        from nbgrader.api import MissingEntry

        id = self._assignment.id
        remedy = f"autograder nbgrader setup {id}, then: nbgrader generate_assignment {id}"
        try:
            notebooks = self._gradebook.find_assignment(id).notebooks
        except MissingEntry:
            raise UsageError(f"nbgrader's gradebook has no assignment {id}", remedy) from None
        for notebook in notebooks:
            cells = {cell.name: float(cell.max_score) for cell in notebook.grade_cells if is_ours(cell.name)}
            if cells:
                return notebook.name, cells | {cell.name: 0.0 for cell in notebook.task_cells if is_ours(cell.name)}
        raise UsageError(f"the notebooks of {id} in nbgrader's gradebook have no cells for checks", remedy)

    def _student(self, key: str) -> str | _NotFound:
        """The student of nbgrader whose record this is: by id, else by one login, number or address of the roster."""
        known = self._students | set(self._submitted)
        if key in known:
            return key
        line = self._lines.get(key)
        keys = (line.login, line.sis_id, line.email, line.canvas_id) if line else ()
        found = sorted({other for other in keys if other in known})
        if len(found) == 1:
            return found[0]
        if found:
            return _NotFound(f"may be {' or '.join(found)} in nbgrader: correct the roster")
        return _NotFound("nobody in nbgrader has this id: give a roster with a login, or nbgrader db student add")

    def _problem(self, student: str, record: rec.Record) -> str:
        """Why this record must not be written; empty when it may."""
        if Path(student).name != student or student.startswith("."):
            return "the id is no name of a folder"
        marks = marks_of(record)
        wanted = {**marks.maximum, **dict.fromkeys(marks.comments, 0.0)}
        differ = set(wanted) ^ set(self._cells)
        differ |= {name for name in set(wanted) & set(self._cells) if abs(wanted[name] - self._cells[name]) > _CLOSE}
        if differ:
            return (
                f"{len(differ)} checks have no cell, or other points, in nbgrader: the assignment has changed; repeat "
                f"autograder nbgrader setup {self._assignment.id} --force, nbgrader generate_assignment, and grade"
            )
        if student not in self._submitted:
            return f"nbgrader has no hand-in of {self._assignment.id}: put it into {self._place(student)}"
        return "" if self._is_of(student, record) else "the hand-in in nbgrader is another file than the graded one"

    def _place(self, student: str) -> Path:
        return self._course.place("submitted", student, self._assignment.id)

    def _is_of(self, student: str, record: rec.Record) -> bool:
        """Whether what was graded is among the student's files, under whatever name."""
        folder, digests = self._place(student), set(record.submission.files.values())
        own = plain_file(folder, self._assignment.module, MAX_MODULE)
        if own is not None:
            return hashlib.sha256(own).hexdigest() in digests
        if self._assignment.notebook_accepted:  # the module may have been taken from its cells
            return True
        files = (plain_file(path.parent, path.name, MAX_MODULE) for path in islice(folder.rglob("*"), MAX_FILES))
        return any(data is not None and hashlib.sha256(data).hexdigest() in digests for data in files)

    def _add(self, plan: Plan, student: str, record: rec.Record, identity: Identity | None) -> None:
        marks = marks_of(record)
        shelf = Shelf(self._course, self._assignment.id, self._notebook, student)
        change = Change(student, marks, shelf, timestamp_of(self._place(student)), identity)
        change.is_new_student = student not in self._students
        self._compare(change)
        same = not (change.points or change.comments or change.anew)
        if same and shelf.shows(marks.outputs):
            plan.unchanged.append(student)
        else:
            plan.changes.append(change)

    def _compare(self, change: Change) -> None:
        from nbgrader.api import MissingEntry

        marks = change.marks
        try:
            submission = self._gradebook.find_submission(self._assignment.id, change.student)
        except MissingEntry:
            change.anew, change.comments = True, dict(marks.comments)
            change.points = {**marks.points, **dict.fromkeys(marks.comments, 0.0)}
            return
        change.again = submission.timestamp != change.timestamp or self._is_other_module(change)
        change.anew = change.again or not change.shelf.path.is_file()
        notebook = next(one for one in submission.notebooks if one.name == self._notebook)
        grades = {grade.name: grade for grade in notebook.grades if grade.name.startswith((CHECK, REMARKS))}
        comments = {comment.name: comment.auto_comment for comment in notebook.comments}
        change.had = sum(grade.auto_score or 0.0 for name, grade in grades.items() if name in marks.points)
        change.points = {name: points for name, points in marks.points.items() if grades[name].auto_score != points}
        change.points |= {name: 0.0 for name in marks.comments if grades[name].auto_score is None}
        change.comments = {name: text for name, text in marks.comments.items() if comments.get(name) != text}
        change.manual = sorted(name for name in change.points if grades[name].manual_score is not None)

    def _is_other_module(self, change: Change) -> bool:
        """Without a time of the hand-in, the module tells whether it is another one."""
        graded = plain_file(change.shelf.folder, self._assignment.module, MAX_MODULE)
        return graded is not None and graded != plain_file(
            self._place(change.student), self._assignment.module, MAX_MODULE
        )


@dataclass(frozen=True)
class _NotFound:
    reason: str


def _records(folder: Path, plan: Plan) -> dict[str, rec.Record]:
    """The records that are grades."""
    records = {}
    for path in sorted(folder.glob("*.json")):
        if not path.name.startswith("."):
            try:
                record = rec.decode(path.read_bytes())
            except ValueError:  # listed already
                continue
            if record.submission.id not in plan.left_out:
                records[record.submission.id] = record
    return records
