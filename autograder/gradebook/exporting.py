"""The grades that leave the gradebook for an LMS, and the log of what left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import msgspec

from autograder import record as rec
from autograder.gradebook.book import Book
from autograder.gradebook.database import Database
from autograder.gradebook.standing import Standing
from autograder.gradebook.tables import Export
from autograder.lms import grades as lms
from autograder.lms.numbers import spelled
from autograder.lms.reconciliation import Entry
from autograder.lms.records import Collected, label, summary


def grades_for_export(database: Database, assignment: str, *, feedback: bool = False) -> list[lms.Grade]:
    """One grade per student of the roster; who is pending (see `collect_for_export`) is left out."""
    return collect_for_export(database, assignment, feedback=feedback).grades


def collect_for_export(database: Database, assignment: str, *, feedback: bool = False) -> Collected:
    """The grades, and an entry `not_a_grade` for each student who is pending: neither graded nor missing.

    A score is before the late penalty, which is beside it, except that of an override, which has none.
    `feedback` adds the line about the counted record.
    """
    with database.read() as session:
        standings = Book(session, assignment).standings().values()
        collected = Collected([_grade(one, feedback=feedback) for one in standings if one.state != "pending"])
        collected.no_grades = [
            Entry("not_a_grade", label(one.student), reason=one.why) for one in standings if one.state == "pending"
        ]
        return collected


def _grade(standing: Standing, *, feedback: bool) -> lms.Grade:
    counted = standing.counted
    submitted = counted.attempt.submitted if counted else None
    result = counted.result if counted else None
    return lms.Grade(
        standing.student,
        cast(lms.State, standing.state),
        standing.score,
        standing.maximum if standing.score is not None else None,
        summary(msgspec.json.decode(result.record, type=rec.Record)) if feedback and result else None,
        standing.penalty or None,
        submitted.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if submitted else "",
    )


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
) -> None:
    """Remember that `file`, with that hash, was written for `target`, and what it says of whom."""
    said = {grade.student.id: _said(grade) for grade in grades}
    row = {
        "author": author,
        "time": now or datetime.now(UTC),
        "assignment": assignment,
        "target": target,
        "file": file,
        "sha256": sha256,
        "grades": msgspec.json.encode(said, order="sorted").decode(),
    }
    database.write(lambda session: session.add(Export(**row)))


def _said(grade: lms.Grade) -> dict[str, str | None]:
    return {
        "state": grade.state,
        "score": spelled(grade.score) if grade.score is not None else None,
        "late_penalty": spelled(grade.late_penalty) if grade.late_penalty is not None else None,
    }
