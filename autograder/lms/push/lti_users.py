"""Which user of an LTI platform a student is: told by a column of the roster."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autograder.lms.errors import RosterError
from autograder.lms.grades import Identity
from autograder.lms.options import IDENTITY_FIELDS
from autograder.lms.rawcsv import read
from autograder.lms.roster import read_roster
from autograder.lms.template import find


def users_of(column: str, students: Sequence[Identity], roster: Path | None) -> dict[str, str]:
    """The course's id to the platform's user, for those for whom it is known.

    `column` is one that every roster knows (canvas_id, login, ...), or one of the file `roster`. Raises RosterError for
    two students with one user.
    """
    if column in IDENTITY_FIELDS:
        found = [(student.id, getattr(student, column)) for student in students]
    elif roster is not None:
        found = _from_file(column, roster)
    else:
        found = []
    users: dict[str, str] = {}
    for id, user in found:
        if user and user in users.values():
            raise RosterError(f"two students have the same {column} {user!r}", "correct the roster")
        if user:
            users[id] = user
    return users


def _from_file(column: str, roster: Path) -> list[tuple[str, str]]:
    lines = {line.line: line.student.id for line in read_roster(roster)}
    sheet = read(roster.read_bytes(), ",;\t")
    place = find(sheet.rows[0], column)
    if place is None:
        return []
    return [(lines[row.line], row.value(place).strip()) for row in sheet.rows[1:] if row.line in lines]
