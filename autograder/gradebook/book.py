"""What the gradebook holds about an assignment, read in one go; and who its students are."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import TypeVar, cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from autograder.course.strict_yaml import did_you_mean
from autograder.gradebook.errors import GradebookError
from autograder.gradebook.latepolicy import Base, Counting, LatePolicy, Unit
from autograder.gradebook.standing import Class, Rows, Standing, stand
from autograder.gradebook.tables import (
    Attempt,
    Extension,
    ManualPoints,
    Override,
    PolicyVersion,
    Result,
    RosterEntry,
)
from autograder.gradebook.times import zone
from autograder.lms.grades import KEYS, Identity

FIELDS = ("name", "given", "family", *KEYS)

R = TypeVar("R", Attempt, Result, Override, Extension, ManualPoints)


class Roster:
    """The students as the newest row of each says; `here` holds those who have not left."""

    def __init__(self, session: Session) -> None:
        newest = {row.student: row for row in session.scalars(select(RosterEntry).order_by(RosterEntry.id))}
        self.rows = newest
        self.everyone = {key: _identity(row) for key, row in newest.items()}
        self.here = {key: self.everyone[key] for key, row in newest.items() if row.here}

    def find(self, given: str) -> Identity | None:
        """By id, else by the one student who has it as login, number or address; also those who left."""
        if given in self.everyone:
            return self.everyone[given]
        found = [s for s in self.everyone.values() if given and given in (getattr(s, key) for key in KEYS)]
        return found[0] if len(found) == 1 else None

    def require(self, given: str) -> Identity:
        """Raises GradebookError when nobody, or more than one, is meant."""
        if not self.everyone:
            raise GradebookError("the gradebook has no students yet", "autograder gradebook roster roster.csv")
        student = self.find(given)
        if student is None:
            remedy = did_you_mean(given, sorted(self.here)[:50])
            raise GradebookError(f"{given!r} is nobody in the gradebook's roster", remedy)
        return student


def _identity(row: RosterEntry) -> Identity:
    return Identity(row.student, **{name: getattr(row, name) for name in FIELDS})


class Book:
    """One assignment. Rows that are not stored yet can be added to see what they would change."""

    def __init__(self, session: Session, assignment: str) -> None:
        self.assignment = assignment
        self.roster = Roster(session)
        self.attempts = _by_student(session, Attempt, assignment)
        self.results = _by_student(session, Result, assignment)
        self.overrides = _by_student(session, Override, assignment)
        self.extensions = _by_student(session, Extension, assignment)
        self.points = _by_student(session, ManualPoints, assignment)
        self.policy_row = newest_policy(session, assignment)
        self.policy = policy_of(self.policy_row)

    def rows(self, student: str) -> Rows:
        return Rows(
            self.attempts.get(student, ()),
            self.results.get(student, ()),
            self.overrides.get(student, ()),
            self.extensions.get(student, ()),
            self.points.get(student, ()),
        )

    def standings(self) -> dict[str, Standing]:
        """Of everyone who is here, in the order of the roster."""
        whole = self._class()
        return {key: stand(student, self.rows(key), whole) for key, student in self.roster.here.items()}

    def _class(self) -> Class:
        graded = [row for rows in self.results.values() for row in rows if row.score is not None]
        newest = max(graded, key=lambda row: row.id, default=None)
        return Class(self.policy, self.questions(), newest.maximum if newest else None)

    def questions(self) -> dict[str, Decimal]:
        """The written questions for which somebody has points now, with the newest maximum of each."""
        rows = sorted((row for rows in self.points.values() for row in rows), key=lambda row: row.id)
        standing = {(row.question, row.student): row.points is not None for row in rows}
        asked = {question for (question, _), has_points in standing.items() if has_points}
        return {row.question: row.maximum for row in rows if row.question in asked}


def _by_student(session: Session, table: type[R], assignment: str) -> dict[str, list[R]]:
    rows: Sequence[R] = session.scalars(select(table).where(table.assignment == assignment).order_by(table.id)).all()
    grouped: dict[str, list[R]] = defaultdict(list)
    for row in rows:
        grouped[row.student].append(row)
    return grouped


def newest_policy(session: Session, assignment: str) -> PolicyVersion | None:
    query = select(PolicyVersion).where(PolicyVersion.assignment == assignment)
    return session.scalars(query.order_by(PolicyVersion.version.desc()).limit(1)).first()


def policy_of(row: PolicyVersion | None) -> LatePolicy:
    """The policy of that version; without one nothing is late and the last attempt counts."""
    if row is None:
        return LatePolicy()
    return LatePolicy(
        row.due,
        zone(row.zone),
        cast(Unit, row.per),
        row.percent,
        cast(Base, row.of),
        timedelta(seconds=row.grace_seconds),
        row.cap,
        row.floor,
        cast(Counting, row.counts),
    )


def files_digest(files: dict[str, str], module: str) -> str:
    """What names the files of a hand-in as a whole: the hash of its module, which is all that is graded."""
    return files.get(module) or json.dumps(files, sort_keys=True)
