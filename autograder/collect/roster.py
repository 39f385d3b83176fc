"""The roster: who is in the class, and under which keys and names each platform knows them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.collect.files import Problem
from autograder.collect.hands import Claim, Spelling
from autograder.collect.text import canvas_key, moodle_key, normal, shown
from autograder.errors import UsageError

COLUMNS = {
    "id": ("id", "student id", "studentid", "student number", "id number", "orgdefinedid", "sid"),
    "identifier": ("identifier",),
    "sis_id": ("sis id", "sis user id"),
    "login": ("login", "login id", "sis login id", "username", "user name", "user", "netid"),
    "email": ("email", "e mail", "email address", "mail"),
    "canvas_id": ("canvas id", "canvas user id"),
    "moodle_id": ("moodle id", "participant", "participant id"),
    "brightspace_id": ("brightspace id", "d2l id"),
    "github": ("github", "github username", "github login"),
    "name": ("name", "full name", "fullname", "student name", "student"),
    "first_name": ("first name", "firstname", "given name"),
    "last_name": ("last name", "lastname", "surname", "family name"),
    "aliases": ("aliases", "alias", "also"),
    "group": ("group", "team", "group name"),
}
"""Our column names and the headers that stand for them (compared without case, with `_` and `-` as spaces)."""

KEYS = ("id", "sis_id", "login", "email", "canvas_id", "moodle_id", "brightspace_id", "github")
"""Columns that identify one person; the first that is filled names the students' folders."""

_SPELL = {Spelling.PLAIN: normal, Spelling.CANVAS: canvas_key, Spelling.MOODLE: moodle_key}
_MOODLE_PREFIX = "participant "


@dataclass(frozen=True)
class Student:
    """A row of the roster. `id` names the folder."""

    id: str
    values: dict[str, str] = field(default_factory=dict, hash=False)

    def names(self, spelling: Spelling) -> set[str]:
        """Every way in which a platform may write this student's name."""
        spell = _SPELL[spelling]
        return {key for name in self._names() if (key := spell(name))}

    def _names(self) -> Iterator[str]:
        values = self.values
        yield from (alias.strip() for alias in values.get("aliases", "").split(";") if alias.strip())
        first, last = values.get("first_name", ""), values.get("last_name", "")
        if first and last:
            yield from (f"{first} {last}", f"{last} {first}", f"{last}, {first}")
        name = values.get("name", "")
        if not name:
            return
        yield name
        family, comma, given = (part.strip() for part in name.partition(","))
        if comma:
            yield from (f"{given} {family}", f"{family} {given}")
        else:  # Canvas and others put the family name first, and only the student knows where it begins
            words = name.split()
            yield from (" ".join(words[cut:] + words[:cut]) for cut in range(1, len(words)))


class Roster:
    """Finds students by what a download says of them; what is not certain is a `Problem`, never a guess."""

    def __init__(self, students: list[Student]) -> None:
        self.students = students
        self._index: dict[tuple[str, str], list[Student]] = {}
        for student in students:
            for column in KEYS:
                if value := normal(student.values.get(column, "")):
                    self._add(column, value, student)
            for spelling, spell in _SPELL.items():
                for name in student.names(spelling):
                    self._add(spelling.value, name, student)
                if group := spell(student.values.get("group", "")):
                    self._add(f"group {spelling.value}", group, student)

    def _add(self, kind: str, value: str, student: Student) -> None:
        self._index.setdefault((kind, value), []).append(student)

    def has(self, column: str, value: str) -> bool:
        return (column, normal(value)) in self._index

    def find(self, claim: Claim) -> list[Student] | Problem:
        """The student, or the members of the group."""
        found = self._by_ids(claim)
        if not found and claim.anything:
            found = self._by_anything(claim.anything)
        if not found and claim.name:
            found = self._by_name(claim)
        if len(found) == 1:
            return found
        if found:
            who = ", ".join(shown(student.id) for student in found[:5])
            return Problem(f"fits several students of the roster ({who})", "give the roster a column that decides")
        members = self._group(claim)
        return members or Problem("is nobody in the roster", "add it to the student's row (column aliases, or its key)")

    def _by_ids(self, claim: Claim) -> list[Student]:
        return _distinct(s for column, value in claim.ids for s in self._index.get((column, normal(value)), ()))

    def _by_anything(self, text: str) -> list[Student]:
        kinds = (*KEYS, Spelling.PLAIN.value)
        return _distinct(s for kind in kinds for s in self._index.get((kind, normal(text)), ()))

    def _by_name(self, claim: Claim) -> list[Student]:
        """Those of that name whose other keys do not say that they are somebody else."""
        named = self._index.get((claim.spelling.value, _SPELL[claim.spelling](claim.name)), [])
        return _distinct(
            student
            for student in named
            if all(normal(student.values.get(column, "")) in ("", normal(value)) for column, value in claim.ids)
        )

    def _group(self, claim: Claim) -> list[Student]:
        text = claim.name or claim.anything
        return _distinct(self._index.get((f"group {claim.spelling.value}", _SPELL[claim.spelling](text)), ()))


def _distinct(students: Iterable[Student]) -> list[Student]:
    return list({student.id: student for student in students}.values())


def load_roster(path: Path) -> Roster:
    """The roster in a CSV file, our own or an export of a platform.

    Raises:
        UsageError: it cannot be read, or does not identify each student; with the line.
    """
    lines = _rows(path)
    header_line, header = next(lines, (0, []))
    columns = _columns(path, header_line, header)
    rows = [(line, _values(columns, row)) for line, row in lines]
    rows = [(line, values) for line, values in rows if not _is_service_row(header, values)]
    key = next((key for key in KEYS if any(values.get(key) for _, values in rows)), None)
    if key is None:
        known = ", ".join(KEYS)
        raise UsageError(f"{path}:1: no column identifies the students; name one of them {known}")
    for column in KEYS:
        _check_distinct(path, rows, column, required=column == key)
    return Roster([Student(values[key], values) for _, values in rows])


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    text = _text(path)
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    width = 0
    while True:
        line = reader.line_num + 1
        try:
            row = [cell.strip() for cell in next(reader)]
        except StopIteration:
            return
        except csv.Error as error:
            raise UsageError(f"{path}:{line}: not CSV ({error}); save the roster as CSV again") from None
        if not any(row):
            continue
        width = width or len(row)
        if len(row) < width or any(row[width:]):
            raise UsageError(f"{path}:{line}: {len(row)} cells where the header has {width}; quote cells with commas")
        yield line, row


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name the roster's CSV file") from None
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeError:
        raise UsageError(f"{path} is not UTF-8; save it as 'CSV UTF-8', so that no name is damaged") from None


def _columns(path: Path, line: int, header: list[str]) -> dict[str, int]:
    headers = _headers(header)
    known = {name: column for column, names in COLUMNS.items() for name in names}
    if _is_canvas_export(headers):
        known["id"] = "canvas_id"
    columns: dict[str, int] = {}
    for place, name in enumerate(headers):
        column = known.get(name)
        if column in columns:
            other = header[columns[column]]
            raise UsageError(f"{path}:{line}: columns {other!r} and {header[place]!r} are both the {column}; keep one")
        if column is not None:
            columns[column] = place
    if not columns:
        raise UsageError(f"{path}: no header with known columns; the first line must name them, such as id,name,email")
    return columns


def _values(columns: dict[str, int], row: list[str]) -> dict[str, str]:
    """The row's cells; `#` before an id is Brightspace's guard against spreadsheets."""
    values = {column: row[place].removeprefix("#") for column, place in columns.items() if row[place]}
    identifier = values.pop("identifier", "")
    if normal(identifier).startswith(_MOODLE_PREFIX):
        values["moodle_id"] = identifier[len(_MOODLE_PREFIX) :]
    elif identifier:
        values.setdefault("id", identifier)
    return values


def _headers(header: list[str]) -> list[str]:
    return [normal(cell.replace("_", " ").replace("-", " ")) for cell in header]


def _is_canvas_export(headers: list[str]) -> bool:
    """Canvas calls its own number of the user ID."""
    return {"id", "section"} <= set(headers) and bool({"student", "lastname"} & set(headers))


def _is_service_row(header: list[str], values: dict[str, str]) -> bool:
    """Rows of a Canvas export that are no students: posting policies, points possible, the test student."""
    if not _is_canvas_export(_headers(header)):
        return False
    name = values.get("name") or ", ".join(filter(None, (values.get("last_name"), values.get("first_name"))))
    return name in ("", "Points Possible", "Student, Test")


def _check_distinct(path: Path, rows: list[tuple[int, dict[str, str]]], column: str, *, required: bool) -> None:
    seen: dict[str, int] = {}
    for line, values in rows:
        value = normal(values.get(column, ""))
        if not value and required:
            raise UsageError(f"{path}:{line}: the {column} is empty; fill it in, it names the student's folder")
        if value in seen:
            raise UsageError(f"{path}:{line}: the {column} is the same as in line {seen[value]}; keep one of them")
        if value:
            seen[value] = line
