"""Decisions of the staff as rows: overrides, extensions, points, late policies, corrected times."""

from __future__ import annotations

import getpass
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy.orm import Session

from autograder.errors import UsageError
from autograder.gradebook.book import Book, newest_policy, policy_of
from autograder.gradebook.errors import GradebookError
from autograder.gradebook.latepolicy import LatePolicy
from autograder.gradebook.standing import current_attempts
from autograder.gradebook.tables import Attempt, Extension, ManualPoints, Override, PolicyVersion
from autograder.gradebook.times import moment, zone
from autograder.lms.numbers import parse

STATES = {"excused": "excused", "not-assigned": "not_assigned", "missing": "missing", "none": "computed"}
"""What an override may say besides points."""

_QUESTION = re.compile(r"\S(.{0,98}\S)?")
_DURATION = re.compile(r"(?:(\d{1,4})d)?(?:(\d{1,5})h)?(?:(\d{1,6})m(?:in)?)?", re.ASCII)


@dataclass(frozen=True)
class Author:
    """Who writes, and when."""

    name: str
    now: datetime


def author_of(given: str | None) -> Author:
    """Whoever is named, else the login name of who runs this; now."""
    try:
        name = given or getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in containers
        name = ""
    return Author(name.strip() or "unknown", datetime.now(UTC))


def override(session: Session, assignment: str, student: str, given: str, reason: str, by: Author) -> Override:
    """Replace the computed grade by points, or by a state of `STATES`; `none` takes that back."""
    book = Book(session, assignment)
    score = None if given in STATES else _points(given, "points")
    row = Override(
        **_whose(book, student, by),
        state=STATES.get(given, "graded"),
        score=score,
        reason=_reason(reason),
    )
    session.add(row)
    return row


def extend(session: Session, assignment: str, student: str, until: str, reason: str, by: Author) -> Extension:
    """Give one student another due time; `none` takes it back."""
    book = Book(session, assignment)
    time = None
    if until != "none":
        time = moment(until, book.policy.zone if book.policy_row else None, "UNTIL")
        if book.policy.due is not None and time < book.policy.due:
            raise UsageError("UNTIL is before the assignment's due time; give a later one, or none to take one back")
    row = Extension(**_whose(book, student, by), until=time, reason=_reason(reason))
    session.add(row)
    return row


def give_points(session: Session, assignment: str, student: str, question: str, given: str, by: Author) -> ManualPoints:
    """Enter `given`, written POINTS/MAX, for a written question; `none` takes the points back."""
    book = Book(session, assignment)
    if not _QUESTION.fullmatch(question):
        raise UsageError(f"{question!r} names no question; write a short name, such as q3")
    known = book.questions()
    if given == "none":
        points, maximum = None, known.get(question, Decimal(0))
    else:
        text, _, out_of = given.partition("/")
        if not out_of and question not in known:
            raise UsageError(f"{given!r} does not say out of what; write POINTS/MAX, for example 3/5")
        points = _points(text, "POINTS")
        maximum = _points(out_of, "MAX") if out_of else known[question]
        if points > maximum > 0:
            raise UsageError(f"{given!r} is more than the maximum; enter a bonus as a question of its own out of 0")
    row = ManualPoints(**_whose(book, student, by), question=question, points=points, maximum=maximum)
    session.add(row)
    return row


def correct_time(
    session: Session, assignment: str, student: str, given: str, position: int | None, reason: str, by: Author
) -> Attempt:
    """Say when an attempt was handed in (default: the last one), as a row that supersedes the one before."""
    book = Book(session, assignment)
    whose = _whose(book, student, by)
    attempts = current_attempts(book.attempts.get(whose["student"], ()))
    place = len(attempts) if position is None else position
    if not 1 <= place <= len(attempts):
        raise GradebookError(f"{whose['student']!r} has {len(attempts)} attempts at {assignment}, no attempt {place}",
                             f"see them with: autograder gradebook show {assignment} --student ID")  # fmt: skip
    old = attempts[place - 1]
    row = Attempt(
        **whose,
        files=old.files,
        digest=old.digest,
        number=old.number,
        submitted=moment(given, book.policy.zone if book.policy_row else None, "TIME"),
        late=old.late,
        supersedes=old.id,
        reason=_reason(reason),
    )
    session.add(row)
    return row


@dataclass(frozen=True)
class Terms:
    """The terms of a policy as given; None leaves a term as it is."""

    due: str | None = None
    zone: str | None = None
    per: str | None = None
    percent: str | None = None
    of: str | None = None
    grace: str | None = None
    cap: str | None = None
    floor: str | None = None
    counts: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == Terms()


def set_policy(session: Session, assignment: str, terms: Terms, by: Author) -> PolicyVersion:
    """Enter the next version: the newest one with the given terms instead."""
    newest = newest_policy(session, assignment)
    if newest is None and terms.zone is None:
        raise UsageError("a first policy needs --zone: the clock by which a day ends, for example --zone Europe/Berlin")
    policy = _with(policy_of(newest), terms)
    row = PolicyVersion(
        author=by.name,
        time=by.now,
        assignment=assignment,
        version=newest.version + 1 if newest else 1,
        due=policy.due,
        zone=policy.zone.key,
        per=policy.per,
        percent=policy.percent,
        of=policy.of,
        grace_seconds=int(policy.grace.total_seconds()),
        cap=policy.cap,
        floor=policy.floor,
        counts=policy.counts,
    )
    session.add(row)
    return row


def _with(policy: LatePolicy, terms: Terms) -> LatePolicy:
    changes: dict[str, Any] = {}
    where = zone(terms.zone) if terms.zone is not None else policy.zone
    changes["zone"] = where
    if terms.due is not None:
        changes["due"] = None if terms.due == "none" else moment(terms.due, where, "--due")
    for name, allowed in (
        ("per", ("day", "hour")),
        ("of", ("max", "score")),
        ("counts", ("last", "best", "last_on_time")),
    ):
        value = getattr(terms, name)
        if value is not None:
            if value not in allowed:
                raise UsageError(f"--{name} {value!r} is not one of {', '.join(allowed)}")
            changes[name] = value
    for name in ("percent", "cap", "floor"):
        if (text := getattr(terms, name)) is not None:
            changes[name] = _percentage(text, f"--{name}")
    if terms.grace is not None:
        changes["grace"] = _duration(terms.grace)
    return replace(policy, **changes)


def _whose(book: Book, student: str, by: Author) -> dict[str, Any]:
    found = book.roster.require(student)
    return {"assignment": book.assignment, "student": found.id, "author": by.name, "time": by.now}


def _reason(text: str) -> str:
    if not text.strip():
        raise UsageError("--reason is empty; say in a few words why, it stays in the log")
    return text.strip()


def _points(text: str, what: str) -> Decimal:
    value = parse(text)
    if value is None or value < 0 or len(value.as_tuple().digits) > 20:
        words = f", or one of {', '.join(STATES)}" if what == "points" else ""
        raise UsageError(f"{text!r} is no number of points; write a number from 0, such as 7.5{words}")
    return value


def _percentage(text: str, option: str) -> Decimal:
    value = parse(text.removesuffix("%"))
    if value is None or not 0 <= value <= 100 or len(value.as_tuple().digits) > 20:
        raise UsageError(f"{option} {text!r} is no percentage; write a number from 0 to 100")
    return value


def _duration(text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        raise UsageError(f"--grace {text!r} is no duration; write it as 15m, 2h, 1d or 1h30m")
    days, hours, minutes = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes)
