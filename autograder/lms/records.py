"""Grades from result records and the roster: who has one, who handed nothing in, and which records are no grades."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import msgspec

from autograder import record as rec
from autograder.lms.errors import LmsError, RosterError
from autograder.lms.grades import KEYS, Grade, Identity
from autograder.lms.numbers import exact, spelled
from autograder.lms.reconciliation import Entry
from autograder.lms.roster import RosterLine


@dataclass
class Collected:
    grades: list[Grade]
    no_grades: list[Entry] = field(default_factory=list)
    """Of students who are neither graded nor missing, and so get nothing from an export: `not_a_grade`, `pending`."""


def collect_grades(folder: Path, roster: Sequence[RosterLine], assignment: str, *, feedback: bool = False) -> Collected:
    """One grade per roster line or record.

    A record belongs to the roster line with its id; failing that, to the one line with that login, number or address.
    Raises LmsError when there is no record at all, RosterError when two claim one student.
    """
    paths = sorted(path for path in folder.glob("*.json") if not path.name.startswith("."))
    if not paths:
        raise LmsError(f"{folder} has no records", f"grade first (autograder grade {assignment}), or give --records")
    result = Collected([])
    graded: dict[str, tuple[Grade, Path]] = {}
    without: set[str] = set()
    for path in paths:
        record, problem = _read(path, assignment)
        key = record.submission.id if record else path.stem
        line = _line_of(key, roster)
        student = line.student if line else Identity(key)
        if record is None or problem:
            result.no_grades.append(Entry("not_a_grade", label(student), reason=f"{path.name}: {problem}", who=student))
            without.add(student.id)
        elif student.id in graded:
            raise RosterError(f"{path} and {graded[student.id][1].name} are both records of {student.id!r}",
                              "keep the one that counts, or give the students ids of their own")  # fmt: skip
        else:
            graded[student.id] = (_grade(record, student, line, feedback=feedback), path)
    ids = {line.student.id for line in roster}
    for line in roster:
        if line.student.id in graded and line.state in (None, "missing"):
            result.grades.append(graded[line.student.id][0])
        elif line.student.id not in without or line.state in ("excused", "not_assigned"):
            result.grades.append(Grade(line.student, line.state or "missing"))
    result.grades += [grade for key, (grade, _) in graded.items() if key not in ids]
    return result


def label(student: Identity) -> str:
    return f"{student.id} {student.full_name}".strip() if student.full_name != student.id else student.id


def _read(path: Path, assignment: str) -> tuple[rec.Record | None, str]:
    """The record, and why it is no grade (empty when it is one)."""
    try:
        record = rec.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, f"cannot be read as a record ({error}): grade this student again"
    if record.assignment != assignment:
        return record, f"is of {record.assignment}, not of {assignment}"
    if record.selection is not None:
        return record, f"only some checks ran ({record.selection}): grade this student again"
    if record.score is None:
        return record, "the grader itself failed: see autograder doctor, then grade this student again"
    return record, ""


def _line_of(key: str, roster: Sequence[RosterLine]) -> RosterLine | None:
    own = next((line for line in roster if line.student.id == key), None)
    if own is not None:
        return own
    found = [line for line in roster if key in (getattr(line.student, name) for name in KEYS)]
    return found[0] if len(found) == 1 else None


def _grade(record: rec.Record, student: Identity, line: RosterLine | None, *, feedback: bool) -> Grade:
    return Grade(
        student,
        "graded",
        exact(record.score or 0.0),
        exact(record.max_score),
        summary(record) if feedback else None,
        line.late_penalty if line else None,
        (line.submitted if line else "") or record.started[:19].replace("T", " "),
    )


def summary(record: rec.Record) -> str:
    """One line of feedback: points in all and per function."""
    parts = [part(group.name, exact(group.points), exact(group.max)) for group in record.totals.by_stub]
    return in_one_line(record.assignment, exact(record.score or 0.0), exact(record.max_score), parts)


def in_one_line(assignment: str, score: Decimal, maximum: Decimal | None, parts: Sequence[str]) -> str:
    whole = f"{assignment}: {spelled(score)}{f'/{spelled(maximum)}' if maximum is not None else ''} points"
    return f"{whole} ({', '.join(parts)})" if parts else whole


def part(name: str, points: Decimal, maximum: Decimal) -> str:
    return f"{name} {spelled(points)}/{spelled(maximum)}"
