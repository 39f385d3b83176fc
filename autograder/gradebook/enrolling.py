"""The roster's file into the gradebook: a row for each student who is new, changed, back or gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.orm import Session

from autograder.gradebook.book import FIELDS, Roster
from autograder.gradebook.errors import GradebookError
from autograder.gradebook.tables import RosterEntry
from autograder.lms.grades import KEYS, Identity


@dataclass
class Enrolment:
    """What became of the students, by id."""

    new: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    """In the gradebook, not in the file: they stay, or have left now."""


def enrol(session: Session, students: Iterable[Identity], author: str, now: datetime, *, drop: bool) -> Enrolment:
    """Enter whoever differs from what the gradebook says; who is absent leaves only with `drop`.

    Raises:
        GradebookError: a student of the file shares a key with another one who stays.
    """
    roster, done = Roster(session), Enrolment()
    given = {student.id: student for student in students}
    done.absent = [key for key in roster.here if key not in given]
    staying = given if drop else roster.here | given
    _require_distinct(staying.values())
    for key, student in given.items():
        known = roster.everyone.get(key)
        if known == student and key in roster.here:
            done.unchanged.append(key)
            continue
        (done.changed if known else done.new).append(key)
        session.add(_entry(student, author, now, here=True))
    if drop:
        session.add_all(_entry(roster.here[key], author, now, here=False) for key in done.absent)
    return done


def _entry(student: Identity, author: str, now: datetime, *, here: bool) -> RosterEntry:
    values = {name: getattr(student, name) for name in FIELDS}
    return RosterEntry(student=student.id, here=here, author=author, time=now, **values)


def _require_distinct(students: Iterable[Identity]) -> None:
    seen: dict[tuple[str, str], str] = {}
    for student in students:
        for key in KEYS:
            value = getattr(student, key)
            other = seen.setdefault((key, value), student.id) if value else student.id
            if other != student.id:
                raise GradebookError(
                    f"students {other!r} and {student.id!r} have the same {key}",
                    "correct the roster's file, or give --drop if the first is no longer in it and has left",
                )
