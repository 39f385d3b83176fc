"""What an LMS holds in one grade column, as the table on which the export's rules decide (autograder.lms.decide)."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from autograder.lms import numbers
from autograder.lms.grades import Grade
from autograder.lms.rawcsv import Row, read
from autograder.lms.template import Existing, Key, Template, plain_existing

_COLUMNS = ("key", "id", "sis_id", "login", "email", "name", "grade")
_KEY, _ID, _SIS, _LOGIN, _EMAIL, _NAME, _GRADE = range(len(_COLUMNS))
_MARK = re.compile(r"\[autograder (?P<assignment>\S+) (?P<hash>[0-9a-f]{12})\]")


@dataclass(frozen=True)
class Held:
    """One student, and what the LMS has of them."""

    key: str
    """The LMS's own number of the user: what is sent."""
    name: str = ""
    id: str = ""
    """The course's key, where the roster tells it."""
    sis_id: str = ""
    login: str = ""
    email: str = ""
    state: Literal["blank", "graded", "excused", "not_assigned"] = "blank"
    score: Decimal | None = None
    """As it counts, after a deduction of the LMS."""
    deducted: Decimal | None = None
    """What the LMS's own late policy has taken off."""
    late: bool = False
    """Whether that policy deducts, for this student, from what is sent."""
    comments: tuple[str, ...] = ()
    """Of the staff, oldest first."""
    changed: datetime | None = None
    """When, where the LMS tells."""

    @property
    def entered(self) -> Decimal | None:
        """The score before the LMS's deduction."""
        return None if self.score is None else self.score + (self.deducted or 0)

    def mark(self, assignment: str) -> str:
        """Of the last comment that a push wrote here."""
        found = [m["hash"] for text in self.comments for m in _MARK.finditer(text) if m["assignment"] == assignment]
        return found[-1] if found else ""


@dataclass
class Column:
    """A grade column with its students."""

    title: str
    students: list[Held]
    maximum: Decimal | None = None
    can_excuse: bool = True
    all_or_nothing: bool = False
    """Complete/Incomplete: 0 or all points."""
    shows_comments: bool = True
    """Whether the LMS tells which comments it has."""
    tells_policy: bool = True
    """Whether `Held.late` is known."""
    notes: list[str] = field(default_factory=list)

    def of(self, key: str) -> Held | None:
        return next((held for held in self.students if held.key == key), None)


def as_template(column: Column, late: Literal["deduct", "leave"]) -> Template:
    """The column as a table. With `leave` the score before the LMS's deduction is what ours is compared with."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(_COLUMNS)
    for held in column.students:
        row = (held.key, held.id, held.sis_id, held.login, held.email, held.name, cell_of(held, late))
        writer.writerow(text.replace("\0", "") for text in row)
    sheet = read(file.getvalue().encode("utf-8", "replace"), ",")
    rows = sheet.rows[1:]
    by_row = {id(row): held for row, held in zip(rows, column.students, strict=True)}

    def unfit(row: Row, grade: Grade, value: Decimal) -> str | None:
        return _unfit(column, by_row[id(row)], grade, value, late)

    return Template(
        sheet=sheet,
        students=rows,
        column=_GRADE,
        keys=_keys(),
        name=lambda row: row.value(_NAME),
        title=column.title,
        maximum=lambda _row: column.maximum,
        existing=_existing,
        unfit=unfit,
        excused="EX" if column.can_excuse else None,
        no_excuse="this interface cannot say excused: set it in the LMS",
    )


def cell_of(held: Held, late: Literal["deduct", "leave"]) -> str:
    score = held.entered if late == "leave" else held.score
    texts = {"blank": "", "excused": "EX", "not_assigned": "N/A"}
    return texts[held.state] if held.state != "graded" or score is None else numbers.spelled(score)


def _keys() -> list[Key]:
    return [
        Key(_KEY, "the LMS's number", ("canvas_id",)),
        Key(_ID, "the roster", ("id",)),
        Key(_SIS, "SIS id", ("sis_id", "id")),
        Key(_LOGIN, "login", ("login", "id"), fold=True),
        Key(_EMAIL, "e-mail", ("email",), fold=True),
    ]


def _existing(text: str) -> Existing:
    if text == "EX":
        return Existing("excused")
    return Existing("not_assigned") if text == "N/A" else plain_existing(text)


def _unfit(column: Column, held: Held, grade: Grade, value: Decimal, late: str) -> str | None:
    if column.all_or_nothing and value not in (0, column.maximum):
        return "a Complete/Incomplete assignment takes only 0 or all points"
    deducts_there = held.late or bool(held.deducted)
    if late == "deduct" and deducts_there and held.score != value and value != 0:
        return "the LMS's late policy would deduct from this as well: use --late leave, or set its status to none there"
    return None
