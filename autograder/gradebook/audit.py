"""The audit trail: every row of every table as one line, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session

from autograder.gradebook.standing import ZERO
from autograder.gradebook.tables import (
    TABLES,
    Attempt,
    Export,
    Extension,
    ManualPoints,
    Override,
    PolicyVersion,
    Result,
    RosterEntry,
    Row,
)
from autograder.gradebook.times import shown_time
from autograder.lms.numbers import spelled


@dataclass(frozen=True)
class Line:
    time: datetime
    author: str
    kind: str
    assignment: str
    student: str
    what: str


def trail(session: Session, *, assignment: str | None = None, student: str | None = None) -> list[Line]:
    """Every change, or those of one assignment or student, oldest first; of a student also what each export said."""
    rows = [(row.time, order, row.id, row) for order, row in _rows(session)]
    lines = (_line(row, student) for *_, row in sorted(rows, key=lambda entry: entry[:3]))
    return [
        line
        for line in lines
        if (assignment is None or line.assignment == assignment) and (student is None or line.student == student)
    ]


def _rows(session: Session) -> Iterator[tuple[int, Row]]:
    for order, table in enumerate(TABLES):
        for row in session.scalars(select(table)):
            yield order, row


def _line(row: Row, student: str | None) -> Line:
    if isinstance(row, Export) and student is not None and student in (said := msgspec.json.decode(row.grades)):
        return Line(row.time, row.author, "exports", row.assignment, student, _told(row, said[student]))
    what = _WORDS[type(row)](row)
    kind = row.__tablename__.replace("_", " ")
    return Line(row.time, row.author, kind, getattr(row, "assignment", ""), getattr(row, "student", ""), what)


def _roster(row: RosterEntry) -> str:
    return f"here as {row.name or ' '.join(filter(None, (row.given, row.family)))}".strip() if row.here else "left"


def _attempt(row: Attempt) -> str:
    time = shown_time(row.submitted) or "at an unknown time"
    number = f" as number {row.number}" if row.number is not None else ""
    late = {None: "", True: ", marked late", False: ", marked on time"}[row.late]
    instead = f", instead of attempt row {row.supersedes}" if row.supersedes is not None else ""
    return f"row {row.id}: files {row.short_digest} handed in {time}{number}{late}{instead}{_because(row.reason)}"


def _result(row: Result) -> str:
    score = f"{spelled(row.score)}/{spelled(row.maximum)}" if row.score is not None else f"no grade: {row.problem}"
    return f"{score} for files {row.digest[:12]}, kit {row.kit_version[:12]}, receipt {row.receipt[:12]}"


def _override(row: Override) -> str:
    said = spelled(row.score) if row.score is not None else row.state.replace("_", " ")
    return f"{said}{_because(row.reason)}"


def _extension(row: Extension) -> str:
    until = f"until {shown_time(row.until)}" if row.until else "taken back"
    return f"{until}{_because(row.reason)}"


def _points(row: ManualPoints) -> str:
    given = f"{spelled(row.points)}/{spelled(row.maximum)}" if row.points is not None else "taken back"
    return f"{row.question}: {given}"


def policy_words(row: PolicyVersion) -> str:
    """A version of a policy in one line."""
    from autograder.gradebook.book import policy_of

    policy = policy_of(row)
    due = f"due {shown_time(policy.due, policy.zone)}" if policy.due else "no due time"
    late = "late costs nothing"
    if policy.percent:
        base = "maximum" if policy.of == "max" else "score"
        late = f"{spelled(policy.percent)}% of the {base} per {policy.per} begun"
        late += f", {spelled(policy.cap)}% at most" if policy.cap < 100 else ""
        late += f", not below {spelled(policy.floor)}% of the maximum" if policy.floor > ZERO else ""
    grace = f", grace {policy.grace}" if policy.grace else ""
    counts = {"last": "the last attempt", "best": "the best attempt", "last_on_time": "the last attempt on time"}
    return f"version {row.version}: {due} ({row.zone}){grace}; {late}; {counts[policy.counts]} counts"


def _export(row: Export) -> str:
    count = sum(one.get("status") in _IN_THE_FILE for one in msgspec.json.decode(row.grades).values())
    return f"{count} grades for {_file(row)}"


def _told(row: Export, said: dict[str, str | None]) -> str:
    """What an export said of one student."""
    status, state = said.get("status"), (said["state"] or "").replace("_", " ")
    text = said.get("cell") or said["score"] or state
    if status not in _IN_THE_FILE:
        text = f"nothing ({(status or '').replace('_', ' ')}, {state})"
    return f"{text} for {_file(row)}"


def _file(row: Export) -> str:
    options = f", with {row.options}" if row.options else ""
    return f"{row.target}, file {row.file} {row.sha256[:12]}{options}"


def _because(reason: str) -> str:
    return f", because: {reason}" if reason else ""


_IN_THE_FILE = ("written", "unchanged", None)
"""Statuses of a grade that the exported file holds; before version 3 none was kept."""
_WORDS: dict[type[Row], Callable[[Any], str]] = {
    RosterEntry: _roster,
    Attempt: _attempt,
    Result: _result,
    Override: _override,
    Extension: _extension,
    ManualPoints: _points,
    PolicyVersion: policy_words,
    Export: _export,
}
