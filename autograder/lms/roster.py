"""The course's roster: who is in it and under which keys each LMS knows them (columns: docs/lms.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import get_args

from autograder.lms import numbers
from autograder.lms.errors import LmsError, RosterError
from autograder.lms.grades import Identity, State
from autograder.lms.options import IDENTITY_FIELDS
from autograder.lms.rawcsv import Row, Sheet, read

_ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "student", "studentid", "key"),
    "name": ("name", "fullname", "studentname", "displayname"),
    "given": ("given", "givenname", "firstname", "first"),
    "family": ("family", "familyname", "lastname", "surname", "last"),
    "login": ("login", "username", "loginid", "sisloginid", "user"),
    "email": ("email", "emailaddress", "mail", "emailid"),
    "sis_id": ("sisid", "sid", "sisuserid", "idnumber", "orgdefinedid", "studentnumber", "matriculationnumber"),
    "canvas_id": ("canvasid", "canvasuserid"),
    "moodle_participant": ("moodleparticipant", "participant", "identifier", "moodleid"),
    "state": ("state",),
    "late_penalty": ("latepenalty",),
    "submitted": ("submitted", "submittedat", "timestamp"),
}
_DAMAGED = re.compile(r"[0-9][.,][0-9]+E\+[0-9]+", re.IGNORECASE)
_STATES = set(get_args(State)) - {"graded"}


@dataclass(frozen=True)
class RosterLine:
    student: Identity
    line: int
    state: State | None = None
    """`excused`, `missing` or `not_assigned` when the roster says so, else None."""
    late_penalty: Decimal | None = None
    submitted: str = ""


def columns_of(titles: Sequence[str]) -> dict[str, int]:
    """Field to column for the titles that are known; case, spaces, `_` and `-` do not matter.

    In Canvas's own export `Student` is the name and `ID` is Canvas's number.
    """
    plain = [re.sub(r"[\W_]", "", title).casefold() for title in titles]
    canvas = "sisloginid" in plain or ("section" in plain and plain[:2] == ["student", "id"])
    found: dict[str, int] = {}
    for name, aliases in _ALIASES.items():
        for alias in aliases:
            if alias in plain and not (canvas and name == "id"):
                found.setdefault(name, plain.index(alias))
    if canvas:
        found |= {"name": 0, "canvas_id": plain.index("id")}
    return found


def read_roster(path: Path, *, encoding: str | None = None) -> list[RosterLine]:
    """Raises RosterError, with the line, for a key that two students share or that a spreadsheet has damaged."""
    try:
        sheet = read(path.read_bytes(), ",;\t", encoding=encoding)
        sheet.require_rectangle()
    except OSError as error:
        raise RosterError(f"{path}: {error.strerror}", "give the roster's file with --roster") from None
    except LmsError as error:
        raise RosterError(f"{path}: {error.message}", "save the roster as UTF-8 CSV, one line per student") from None
    columns = columns_of([cell.value for cell in sheet.rows[0].cells])
    if not set(columns) & {"id", "sis_id", "login", "email"}:
        raise RosterError(
            f"{path}:1: no column id (or sis_id, login, email)", "name the column of the students' ids 'id'"
        )
    lines = [_line(path, row, columns) for row in _students(sheet)]
    _require_unique(path, lines)
    return lines


def _students(sheet: Sheet) -> list[Row]:
    return [row for row in sheet.rows[1:] if not row.blank and "Points Possible" not in row.value(0)]


def _line(path: Path, row: Row, columns: dict[str, int]) -> RosterLine:
    values = {name: row.value(column).strip() for name, column in columns.items()}
    place = f"{path}:{row.line}"
    keys = {name: values.get(name, "") for name in IDENTITY_FIELDS}
    if keys["moodle_participant"]:
        keys["moodle_participant"] = keys["moodle_participant"].split()[-1]
    for name in ("id", "sis_id", "canvas_id"):
        if _DAMAGED.fullmatch(keys[name]):
            raise RosterError(f"{place}: {name} is a number that a spreadsheet has shortened",
                              "export the roster again and import that column as text")  # fmt: skip
    keys["id"] = keys["id"] or keys["sis_id"] or keys["login"] or keys["email"]
    if not keys["id"]:
        raise RosterError(f"{place}: the line has no id", "fill it in, or delete the line")
    return RosterLine(Identity(**keys), row.line, *_marks(place, values))


def _marks(place: str, values: dict[str, str]) -> tuple[State | None, Decimal | None, str]:
    state, penalty = values.get("state", ""), values.get("late_penalty", "")
    if state and state not in _STATES:
        if state != "graded":
            raise RosterError(f"{place}: state {state!r}", f"write one of {', '.join(sorted(_STATES))}, or nothing")
        state = ""
    points = numbers.parse(penalty)
    if penalty and (points is None or points < 0):
        raise RosterError(f"{place}: late_penalty {penalty!r} is no number of points", "write points, such as 1.5")
    known: State | None = state if state else None  # type: ignore[assignment]
    return known, points, values.get("submitted", "")


def _require_unique(path: Path, lines: list[RosterLine]) -> None:
    for name in ("id", "sis_id", "login", "email", "canvas_id", "moodle_participant"):
        seen: dict[str, int] = {}
        for line in lines:
            value = getattr(line.student, name)
            if value and value in seen:
                raise RosterError(f"{path}:{line.line}: the same {name} as line {seen[value]}",
                                  "keep one line per student, each with keys of its own")  # fmt: skip
            seen[value] = line.line
