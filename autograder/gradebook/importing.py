"""Records into the gradebook: first what they would change, then, if that is still true, the rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy.orm import Session

from autograder import record as rec
from autograder.collect.record import FILE, Collected, Collection, load
from autograder.collect.text import folder_id
from autograder.errors import UsageError
from autograder.gradebook.book import Book, files_digest
from autograder.gradebook.errors import Changed, GradebookError
from autograder.gradebook.standing import Standing, current_attempts
from autograder.gradebook.tables import Attempt, Result
from autograder.gradebook.times import moment, zone
from autograder.lms.grades import Identity
from autograder.lms.numbers import exact, spelled
from autograder.manifest import Assignment

_PROVISIONAL = 1 << 40
"""Ids of rows that are only proposed begin here: after every stored one."""


@dataclass(frozen=True)
class Import:
    """What is to be imported, read from files once."""

    assignment: str
    module: str
    records: dict[str, rec.Record]
    """File name to record."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """File name to why it is none of this assignment."""
    collection: Collection | None = None
    zone: ZoneInfo | None = None
    """Of the times without an offset, if the policy says none."""


@dataclass(frozen=True)
class Difference:
    """One student's grade before and after."""

    student: Identity
    old: str
    new: str


@dataclass
class Plan:
    """The rows to add, and what they change. Equal plans change the same."""

    attempts: list[Attempt] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    unchanged: int = 0
    confirmed: int = 0
    """Of those: graded again with another version of the kit, and nothing came out differently."""
    differences: list[Difference] = field(default_factory=list)
    no_grades: dict[str, str] = field(default_factory=dict)
    """File to why its record is no grade: it is kept, or left out."""
    unknown: list[str] = field(default_factory=list)
    """Students of records and hand-ins who are not in the roster: left out."""

    @property
    def needs_you(self) -> bool:
        return bool(self.no_grades or self.unknown)

    @property
    def is_empty(self) -> bool:
        return not self.attempts and not self.results


def read_records(folder: Path, assignment: str) -> tuple[dict[str, rec.Record], dict[str, str]]:
    """The records in a folder by file name, and the files that hold none of this assignment, with why.

    Raises:
        GradebookError: there is not one file.
    """
    paths = sorted(path for path in folder.glob("*.json") if not path.name.startswith("."))
    if not paths:
        fact = f"{folder} has no records" if folder.is_dir() else f"{folder} is no folder"
        raise GradebookError(fact, f"grade first (autograder grade {assignment}), or name the folder of the records")
    records, unreadable = {}, {}
    for path in paths:
        try:
            record = rec.decode(path.read_bytes())
        except OSError as error:
            unreadable[path.name] = f"cannot be read ({error.strerror})"
        except (msgspec.DecodeError, UnicodeDecodeError):
            unreadable[path.name] = "is no record, or of another version; grade it again"
        else:
            if record.assignment == assignment and record.format == rec.FORMAT:
                records[path.name] = record
            else:
                unreadable[path.name] = f"is of {record.assignment}, not of {assignment}"
    return records, unreadable


class Planner:
    """Finds what is new in an import, against a book; adds it to the book to see what changes."""

    def __init__(self, book: Book, order: Import, author: str, now: datetime) -> None:
        self._book, self._order, self._author, self._now = book, order, author, now
        self._ids = itertools.count(_PROVISIONAL)
        self._plan = Plan(no_grades=dict(order.unreadable))
        self._zone = book.policy.zone if book.policy_row else order.zone

    def plan(self) -> Plan:
        before = self._book.standings()
        for key, collected in sorted((self._order.collection.students if self._order.collection else {}).items()):
            if student := self._known(key):
                self._collected(student.id, key, collected)
        seen: dict[tuple[str, str], tuple[str, Result]] = {}
        for name, record in self._order.records.items():
            if student := self._known(record.submission.id):
                self._record(student.id, name, record, seen)
        after = self._book.standings()
        self._plan.differences = [
            Difference(after[key].student, spell(before[key]), spell(after[key]))
            for key in after
            if spell(before[key]) != spell(after[key])
        ]
        return self._plan

    def _known(self, key: str) -> Identity | None:
        """By id, by the name of a folder made of it, or by another key of one student."""
        student = self._book.roster.find(key) or self._book.roster.find(folder_id(key))
        if student is None and key not in self._plan.unknown:
            self._plan.unknown.append(key)
        return student

    def _collected(self, student: str, key: str, collected: Collected) -> None:
        place = f"collected.json, {key}"
        for old in collected.attempts:
            self._hand_in(student, old.sha256, old.attempt, self._time(old.submitted, place), None, in_place=False)
        time = self._time(collected.submitted, place)
        self._hand_in(student, collected.sha256, collected.attempt, time, collected.late, in_place=True)

    def _time(self, text: str | None, place: str) -> datetime | None:
        return moment(text, self._zone, place) if text else None

    def _hand_in(
        self,
        student: str,
        sha256: str | None,
        number: int | None,
        time: datetime | None,
        late: bool | None,
        *,
        in_place: bool,
    ) -> None:
        """One without a module is a hand-in too: whoever sent a PDF is not missing, and somebody has to decide."""
        files = {self._order.module: sha256} if sha256 is not None else {}
        row = self._attempt(student, files, number, time, late)
        known = [one for one in self._book.attempts.get(student, ()) if one.digest == row.digest]
        kind = _novelty(row, known, self._newest(student) if in_place else None)
        if kind == "known":
            return
        if isinstance(kind, int):
            row.supersedes = kind
        self._add_attempt(row)

    def _newest(self, student: str) -> Attempt | None:
        current = current_attempts(self._book.attempts.get(student, ()))
        return current[-1] if current else None

    def _attempt(
        self, student: str, files: dict[str, str], number: int | None, time: datetime | None, late: bool | None
    ) -> Attempt:
        return Attempt(
            id=next(self._ids),
            author=self._author,
            time=self._now,
            assignment=self._order.assignment,
            student=student,
            files=msgspec.json.encode(files, order="sorted").decode(),
            digest=files_digest(files, self._order.module),
            number=number,
            submitted=time,
            late=late,
            supersedes=None,
            reason="",
        )

    def _add_attempt(self, row: Attempt) -> None:
        self._plan.attempts.append(row)
        self._book.attempts.setdefault(row.student, []).append(row)

    def _record(
        self, student: str, name: str, record: rec.Record, seen: dict[tuple[str, str], tuple[str, Result]]
    ) -> None:
        digest = files_digest(record.submission.files, self._order.module)
        row = self._result(student, digest, record)
        if row.problem is not None:
            self._plan.no_grades[name] = row.problem
        other, first = seen.setdefault((student, digest), (name, row))
        if not _is_same(first, row):
            raise GradebookError(f"{name} and {other} are different records of the same files of {student!r}",
                                 "keep the one that counts")  # fmt: skip
        if all(one.digest != digest for one in self._book.attempts.get(student, ())):
            self._add_attempt(self._attempt(student, record.submission.files, None, None, None))
        stored = [one for one in self._book.results.get(student, ()) if one.digest == digest]
        if stored and _is_same(stored[-1], row):
            self._plan.unchanged += 1
            self._plan.confirmed += stored[-1].kit_version != row.kit_version
            return
        self._plan.results.append(row)
        self._book.results.setdefault(student, []).append(row)

    def _result(self, student: str, digest: str, record: rec.Record) -> Result:
        problem = _problem(record)
        score = None if problem or record.score is None else exact(record.score)
        return Result(
            id=next(self._ids),
            author=self._author,
            time=self._now,
            assignment=record.assignment,
            student=student,
            digest=digest,
            score=score,
            maximum=exact(record.max_score),
            problem=problem,
            kit_version=record.kit_version,
            receipt=record.receipt,
            record=msgspec.json.encode(record).decode(),
        )


def _novelty(row: Attempt, known: list[Attempt], newest: Attempt | None) -> Literal["new", "known"] | int:
    """Whether a hand-in is new, known, or says more than the stored row with the returned id.

    `known` are all rows of the same files; `newest` is the student's newest attempt when `row` is the one in place.
    """
    superseded = {one.supersedes for one in known}
    current = [one for one in known if one.id not in superseded]
    if not current:
        return "new"
    if row.submitted is None:
        if row.has_files and newest is not None and newest.digest != row.digest:
            return "new"  # the same files as once before, handed in again
        return current[-1].id if row.late is not None and _knows_nothing(current[-1]) else "known"
    if any(one.submitted == row.submitted for one in known) or any(one.reason for one in current):
        return "known"  # the staff's correction outlives what the platform repeats
    poorer = next((one for one in current if one.submitted is None), None)
    return "new" if poorer is None else poorer.id


def _knows_nothing(row: Attempt) -> bool:
    return row.submitted is None and row.late is None


def _problem(record: rec.Record) -> str | None:
    """Why the record is no grade."""
    if record.selection is not None:
        return f"only some checks ran ({record.selection})"
    return "the grader itself failed" if record.score is None else None


def _is_same(one: Result, other: Result) -> bool:
    """Whether the second is no news: the same outcome of every check, whenever, wherever and with whichever kit."""
    if (one.score, one.maximum, one.problem) != (other.score, other.maximum, other.problem):
        return False
    return one.receipt == other.receipt or _outcomes(one) == _outcomes(other)


def _outcomes(row: Result) -> list[tuple[object, ...]]:
    """Read without a schema: the row may be older than the record's present format."""
    checks = msgspec.json.decode(row.record).get("checks", [])
    return [(check.get("id"), check.get("status"), check.get("points")) for check in checks]


def spell(standing: Standing) -> str:
    """The grade as a person reads it."""
    if standing.final is None:
        return standing.state.replace("_", " ")
    out_of = f"/{spelled(standing.maximum)}" if standing.maximum is not None else ""
    late = f" ({spelled(standing.penalty)} off for lateness)" if standing.penalty else ""
    return f"{spelled(standing.final)}{out_of}{late}"


def plan_import(session: Session, order: Import, author: str, now: datetime) -> Plan:
    """Raises GradebookError without a roster, and UsageError for a time that cannot be read."""
    book = Book(session, order.assignment)
    if not book.roster.here:
        raise GradebookError("the gradebook has no students yet", "autograder gradebook roster roster.csv")
    return Planner(book, order, author, now).plan()


def apply_import(
    session: Session, order: Import, author: str, now: datetime, agreed: Iterable[Difference] | None
) -> Plan:
    """Write what is new, as long as it changes the grades that were agreed to (None: whatever it changes).

    Raises:
        Changed: somebody wrote meanwhile, and other grades would change.
    """
    plan = plan_import(session, order, author, now)
    if agreed is not None and plan.differences != list(agreed):
        raise Changed("the gradebook has changed since the differences were shown", "nothing was written; run it again")
    ids: dict[int | None, int] = {}
    for attempt in plan.attempts:
        provisional = attempt.id
        attempt.id = None  # type: ignore[assignment]  # the database counts
        attempt.supersedes = ids.get(attempt.supersedes, attempt.supersedes)
        session.add(attempt)
        session.flush()
        ids[provisional] = attempt.id
    for result in plan.results:
        result.id = None  # type: ignore[assignment]
        session.add(result)
    return plan


def read_order(chosen: Assignment, records: Path | None, collected: Path | None, zone_name: str | None) -> Import:
    """The files of an import: those that are named, else what `grade` and `collect` wrote in the course.

    Raises:
        UsageError: one that was named is not there, or not what it should be.
    """
    root, name = chosen.course.root, chosen.id
    usual = root / "submissions" / name / FILE
    if collected is None and usual.is_file():
        collected = usual
    found, unreadable = read_records(records or root / "grades" / name, name)
    collection = _read_collection(collected, name, chosen.module) if collected is not None else None
    return Import(name, chosen.module, found, unreadable, collection, zone(zone_name) if zone_name else None)


def _read_collection(path: Path, assignment: str, module: str) -> Collection:
    folder = path if path.is_dir() else path.parent
    if not (folder / FILE).is_file() or (path.is_file() and path.name != FILE):
        raise UsageError(f"{path} is no {FILE}; name the file that autograder collect {assignment} wrote")
    return load(folder, assignment, module)
