"""What is exported: one grade per student, from result records, a gradebook or any other program."""

from __future__ import annotations

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Literal

State = Literal["graded", "missing", "excused", "not_assigned"]
KEYS = ("login", "sis_id", "email", "canvas_id", "moodle_participant")
"""Fields of an Identity besides the id that name one student at most."""


@dataclass(frozen=True)
class Identity:
    """A student under every key an LMS may use. All are text: `00012345`, `12E45` and 20 digits stay as they are.

    `id` is the course's own key (the name of the hand-in folder); the others may be empty. Where a column asks for a
    login or a student number that the roster does not have, `id` stands in for it.
    """

    id: str
    name: str = ""
    given: str = ""
    family: str = ""
    login: str = ""
    email: str = ""
    sis_id: str = ""
    canvas_id: str = ""
    moodle_participant: str = ""
    """The number of `Participant 51201` in an offline worksheet, and in the folder names of Moodle's download."""

    def __post_init__(self) -> None:
        for one in fields(self):
            if not isinstance(getattr(self, one.name), str):
                raise TypeError(f"Identity.{one.name} must be a str, got {getattr(self, one.name)!r}")

    @property
    def full_name(self) -> str:
        return self.name or f"{self.given} {self.family}".strip()


@dataclass(frozen=True)
class Grade:
    """One student's grade.

    `score` is in points, *before* the late penalty; `late_penalty` is in points too (None: none). The export
    deducts it, or leaves that to the LMS (`Options.late`); never both. `max_score` is what `score` is out of.

    state          score        meaning
    graded         a number     a zero counts as a grade
    missing        None         nothing was handed in
    excused        None         does not count
    not_assigned   None         this student never had the assignment
    """

    student: Identity
    state: State
    score: Decimal | None = None
    max_score: Decimal | None = None
    feedback: str | None = None
    """None leaves the LMS's text alone; an empty text asks to erase it."""
    late_penalty: Decimal | None = None
    submitted: str = ""
    """When it was handed in, `YYYY-MM-DD HH:MM:SS`; only nbgrader's format carries it."""

    def __post_init__(self) -> None:
        for name in ("score", "max_score", "late_penalty"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Decimal):
                raise TypeError(f"Grade.{name} must be a Decimal, got {value!r}: write Decimal(str(x))")
        if (self.state == "graded") != (self.score is not None):
            raise ValueError(
                f"a grade in state {self.state!r} has score {self.score!r}: exactly graded ones have a score"
            )
        if self.late_penalty is not None and not self.late_penalty >= 0:
            raise ValueError(f"Grade.late_penalty must be 0 or more points, got {self.late_penalty}")
