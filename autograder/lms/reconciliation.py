"""What an export did to every student on either side: the table that is always printed."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, get_args

from autograder.lms.grades import Identity

Status = Literal[
    "written",
    "unchanged",
    "kept",
    "skipped",
    "rounded",
    "would_erase",
    "out_of_range",
    "refused",
    "ambiguous",
    "not_in_template",
    "not_in_grades",
    "pending",
    "not_a_grade",
]
STATUSES: tuple[Status, ...] = get_args(Status)
MEANING: dict[Status, str] = {
    "written": "a cell changes",
    "unchanged": "the LMS has this grade already",
    "kept": "nothing to write, the LMS's cell stays",
    "skipped": "the LMS would not take it from this file",
    "rounded": "of those written or unchanged: digits were lost",
    "would_erase": "something the LMS holds would be lost",
    "out_of_range": "outside 0 ... maximum, or out of another maximum",
    "refused": "the format cannot hold the value",
    "ambiguous": "student and row cannot be paired one to one",
    "not_in_template": "has a grade or a roster line, but no row",
    "not_in_grades": "has a row, but no grade or roster line",
    "pending": "handed in or decided on, but no grade yet: gets nothing",
    "not_a_grade": "the record is no grade",
}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """Text for a report: control and direction characters escaped, so that no name can rearrange a line."""
    return _CONTROL.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


@dataclass(frozen=True)
class Entry:
    """One line of the table."""

    status: Status
    student: str
    row: str = ""
    """The key cell of the template's row."""
    was: str = ""
    becomes: str = ""
    reason: str = ""
    line: int = 0
    """Line of the template, 0 without one."""
    rounded: bool = False
    feedback: bool = False
    """Whether the feedback cell changes as well (or alone)."""
    who: Identity | None = None
    """The student on the side of the grades; None for a row that is nobody's."""


@dataclass
class Reconciliation:
    target: str
    column: str
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What to know before importing the file: rules of this LMS that apply to it."""
    blocked: list[str] = field(default_factory=list)
    """Why nothing was written, each with its remedy; empty when the file was."""

    def of(self, status: Status) -> list[Entry]:
        if status == "rounded":
            return [entry for entry in self.entries if entry.rounded and entry.status in {"written", "unchanged"}]
        return [entry for entry in self.entries if entry.status == status]

    @property
    def counts(self) -> dict[Status, int]:
        found = Counter(entry.status for entry in self.entries)
        return {status: len(self.of(status)) if status == "rounded" else found[status] for status in STATUSES}


@dataclass(frozen=True)
class Outcome:
    """`data` is the file for the LMS, None when the reconciliation says why there is none."""

    data: bytes | None
    reconciliation: Reconciliation
