"""Points that people gave in formgrader, on their way into our gradebook as points of written questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from autograder.errors import UsageError
from autograder.lms.numbers import exact, rounded, spelled
from autograder.nbgrader_bridge.cells import is_ours

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from autograder.gradebook.changes import Author

EXTRA = "-extra"
"""Ends the name of the question that holds the extra credit of another."""


@dataclass(frozen=True)
class Points:
    """What nbgrader has for one student and one cell that is no check's."""

    student: str
    question: str
    points: Decimal
    maximum: Decimal


@dataclass
class Found:
    """What formgrader holds."""

    points: list[Points] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    """Students to cells that a person must still grade."""


@dataclass
class Entering:
    """What is new to our gradebook."""

    new: list[tuple[Points, str]] = field(default_factory=list)
    """With what the gradebook has now."""
    unchanged: int = 0
    unknown: list[str] = field(default_factory=list)


def read_points(gradebook: Any, assignment: str) -> Found:
    """Graded cells of an assignment besides the checks'; what exceeds a cell's maximum (extra credit) is its own."""
    from nbgrader.api import MissingEntry

    try:
        submissions = gradebook.find_assignment(assignment).submissions
    except MissingEntry:
        remedy = f"nbgrader generate_assignment {assignment}"
        raise UsageError(f"nbgrader's gradebook has no assignment {assignment}", remedy) from None
    found = Found()
    for submission in sorted(submissions, key=lambda one: str(one.student.id)):
        student = str(submission.student.id)
        for grade in (grade for notebook in submission.notebooks for grade in notebook.grades):
            if is_ours(grade.name):
                continue
            if grade.needs_manual_grade:
                found.waiting[student] = found.waiting.get(student, 0) + 1
                continue
            found.points += _of(student, grade)
    return found


def _of(student: str, grade: Any) -> list[Points]:
    points, full = (rounded(exact(float(value)), 6).normalize() for value in (grade.score, grade.max_score))
    given = [Points(student, str(grade.name), min(points, full), full)]
    return given + ([Points(student, f"{grade.name}{EXTRA}", points - full, Decimal(0))] if points > full else [])


def _with_nothing_extra(found: Sequence[Points], known: Iterable[str]) -> list[Points]:
    """Once somebody has extra credit everybody needs to have some, or would wait for it: nothing is 0."""
    extras = {one.question for one in found if one.question.endswith(EXTRA)}
    extras |= {name for name in known if name.endswith(EXTRA)}
    there = {(one.student, one.question) for one in found}
    added = [
        Points(one.student, f"{one.question}{EXTRA}", Decimal(0), Decimal(0))
        for one in found
        if f"{one.question}{EXTRA}" in extras and (one.student, f"{one.question}{EXTRA}") not in there
    ]
    return sorted([*found, *added], key=lambda one: (one.student, one.question))


def compare(session: Session, assignment: str, found: Sequence[Points]) -> Entering:
    """What differs from the points that our gradebook has."""
    from autograder.gradebook.book import Book

    book, entering = Book(session, assignment), Entering()
    for one in _with_nothing_extra(found, book.questions()):
        identity = book.roster.find(one.student)
        if identity is None:
            if one.student not in entering.unknown:
                entering.unknown.append(one.student)
            continue
        rows = [row for row in book.points.get(identity.id, ()) if row.question == one.question]
        newest = rows[-1] if rows else None
        if newest is not None and (newest.points, newest.maximum) == (one.points, one.maximum):
            entering.unchanged += 1
            continue
        withdrawn = newest is None or newest.points is None
        entering.new.append((one, "-" if withdrawn or newest is None else _written(newest.points, newest.maximum)))
    return entering


def enter(session: Session, assignment: str, found: Sequence[Points], by: Author) -> Entering:
    """Enter what is new, in one transaction."""
    from autograder.gradebook.changes import give_points

    entering = compare(session, assignment, found)
    for one, _ in entering.new:
        give_points(session, assignment, one.student, one.question, _written(one.points, one.maximum), by)
    return entering


def _written(points: Decimal | None, maximum: Decimal) -> str:
    return f"{spelled(points or Decimal(0))}/{spelled(maximum)}"
