"""The grades that leave the gradebook for an LMS, and the log of what left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import cast

import msgspec

from autograder.gradebook.book import Book
from autograder.gradebook.database import Database
from autograder.gradebook.standing import Standing
from autograder.gradebook.tables import Export, Result
from autograder.lms import grades as lms
from autograder.lms.numbers import exact, spelled
from autograder.lms.reconciliation import Entry
from autograder.lms.records import Collected, in_one_line, label, part


def grades_for_export(database: Database, assignment: str, *, feedback: bool = False) -> list[lms.Grade]:
    """One grade per student of the roster; who is pending (see `collect_for_export`) is left out."""
    return collect_for_export(database, assignment, feedback=feedback).grades


def collect_for_export(database: Database, assignment: str, *, feedback: bool = False) -> Collected:
    """The grades, and an entry `pending` for each student who is neither graded nor missing.

    A score is before the late penalty, which is beside it, except that of an override, which has none.
    `feedback` adds the line about the counted record.
    """
    with database.read() as session:
        book = Book(session, assignment)
        standings, questions = book.standings().values(), book.questions()
        grades = [_grade(one, assignment, questions, feedback=feedback) for one in standings if one.state != "pending"]
        collected = Collected(grades)
        collected.no_grades = [
            Entry("pending", label(one.student), reason=one.why, who=one.student)
            for one in standings
            if one.state == "pending"
        ]
        return collected


def _grade(standing: Standing, assignment: str, questions: dict[str, Decimal], *, feedback: bool) -> lms.Grade:
    counted = standing.counted
    submitted = counted.attempt.submitted if counted else None
    return lms.Grade(
        standing.student,
        cast(lms.State, standing.state),
        standing.score,
        standing.maximum if standing.score is not None else None,
        _feedback(standing, assignment, questions) if feedback else None,
        standing.penalty or None,
        submitted.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if submitted else "",
    )


def _feedback(standing: Standing, assignment: str, questions: dict[str, Decimal]) -> str | None:
    """One line: points in all, per function and per written question; a decision of the staff without its reason."""
    if standing.score is None:
        return None
    if standing.is_overridden:
        return in_one_line(assignment, standing.score, standing.maximum, ["set by the staff"])
    result = standing.counted.result if standing.counted else None
    parts = [*(_groups(result) if result else ()), *(part(q, p, questions[q]) for q, p in standing.points.items())]
    return in_one_line(assignment, standing.score, standing.maximum, parts)


def _groups(result: Result) -> list[str]:
    """Points per function, read without a schema: the record may be older than the present format."""
    groups = msgspec.json.decode(result.record).get("totals", {}).get("by_stub", [])
    return [part(group["name"], exact(group["points"]), exact(group["max"])) for group in groups]


def log_export(
    database: Database,
    assignment: str,
    grades: Sequence[lms.Grade],
    *,
    target: str,
    file: str,
    sha256: str,
    author: str,
    now: datetime | None = None,
    entries: Iterable[Entry] = (),
    options: str = "",
) -> None:
    """Remember that `file`, with that hash, leaves for `target`, and what it says of whom.

    `entries` are those of the reconciliation: they say which grades the file holds, and how it spells them. `options`
    are the choices made, as one would type them.
    """
    became = {entry.who.id: entry for entry in entries if entry.who is not None}
    said = {grade.student.id: _said(grade, became.get(grade.student.id)) for grade in grades}
    row = {
        "author": author,
        "time": now or datetime.now(UTC),
        "assignment": assignment,
        "target": target,
        "file": file,
        "sha256": sha256,
        "options": options,
        "grades": msgspec.json.encode(said, order="sorted").decode(),
    }
    database.write(lambda session: session.add(Export(**row)))


def _said(grade: lms.Grade, entry: Entry | None) -> dict[str, str | None]:
    became = {"status": entry.status, "cell": entry.becomes} if entry is not None else {}
    return {
        **became,
        "state": grade.state,
        "score": spelled(grade.score) if grade.score is not None else None,
        "late_penalty": spelled(grade.late_penalty) if grade.late_penalty is not None else None,
    }
