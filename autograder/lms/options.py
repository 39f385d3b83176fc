"""What a caller of `export` may choose; every default is the one that loses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Literal, get_args

from autograder.lms.errors import LmsError
from autograder.lms.grades import Identity
from autograder.lms.numbers import Sign

Target = Literal["canvas", "moodle", "moodle-worksheet", "blackboard", "brightspace", "gradescope", "nbgrader", "csv"]
TARGETS: tuple[Target, ...] = get_args(Target)
IDENTITY_FIELDS = tuple(one.name for one in fields(Identity))

_FLAGS = {
    "column": "--column",
    "feedback": "--feedback",
    "feedback_column": "--feedback-column",
    "match_names": "--match-names",
    "ignore_leading_zeros": "--ignore-leading-zeros",
    "late": "--late",
    "missing_as_zero": "--missing-as-zero",
    "rescale": "--rescale",
    "column_max": "--max",
    "decimals": "--decimals",
    "decimal_sign": "--decimal-sign",
    "encoding": "--encoding",
    "changed_only": "--changed-only",
    "allow_erase": "--allow-erase",
    "allow_out_of_range": "--allow-out-of-range",
    "allow_ambiguous": "--skip-ambiguous",
    "allow_refused": "--skip-refused",
}
"""Fields of Options to the options of `autograder export`."""


@dataclass(frozen=True)
class Options:
    assignment: str = ""
    """Id or title of the assignment: finds a column of exactly this title, and names the column of a new file."""
    column: str | None = None
    """Id or title of the grade column in the template."""
    feedback_column: str | None = None
    feedback: bool = True
    """Whether feedback cells are written at all."""
    match: Mapping[str, str] = field(default_factory=dict)
    """Template column to Identity field, for headers that are translated or unusual."""
    match_names: bool = False
    """Let students whom no key finds be found by a full name that is unique on both sides."""
    ignore_leading_zeros: bool = False
    late: Literal["deduct", "leave"] = "deduct"
    """Deduct late penalties here, or leave the raw score for an LMS with a late policy of its own."""
    missing_as_zero: bool = False
    rescale: bool = False
    """Convert points when the column is out of another maximum than the grades."""
    column_max: Decimal | None = None
    """The column's maximum where the template does not tell it (or tells a wrong one)."""
    decimals: int | None = None
    """Digits after the sign; None: what the target shows (2), or 6 in files that no LMS reads."""
    decimal_sign: Sign | None = None
    encoding: str | None = None
    changed_only: bool = False
    """Leave out the rows of students for whom nothing changes."""
    allow_erase: bool = False
    allow_out_of_range: bool = False
    allow_ambiguous: bool = False
    """Go on without the students who cannot be told apart."""
    allow_refused: bool = False
    """Go on without the students whose values the format cannot hold."""
    now: float | None = None
    """Unix time against which Moodle's download stamp is judged; None: the clock."""

    def switches(self) -> str:
        """What was chosen, as one would type it; empty when everything is as it is without a choice."""
        given: list[str] = []
        for name, flag in _FLAGS.items():
            value = getattr(self, name)
            if value is True:
                given.append(flag)
            elif value not in (None, False, "deduct"):
                given.append(f"{flag} {value}")
        return " ".join([*given, *(f"--match {column}={name}" for column, name in self.match.items())])

    def __post_init__(self) -> None:
        if self.decimals is not None and not 0 <= self.decimals <= 6:
            raise LmsError(f"decimals is {self.decimals}", "choose 0 to 6")
        if self.late not in ("deduct", "leave"):
            raise LmsError(f"late is {self.late!r}", "choose deduct or leave")
        if self.decimal_sign not in (None, ".", ","):
            raise LmsError(f"the decimal sign is {self.decimal_sign!r}", "choose . or ,")
        for column, name in self.match.items():
            if name not in IDENTITY_FIELDS:
                raise LmsError(f"column {column!r} is matched with {name!r}, which students do not have",
                               f"choose one of {', '.join(IDENTITY_FIELDS)}")  # fmt: skip
