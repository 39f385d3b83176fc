"""What an LMS would take from one row of a file."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal


class Rejected(Exception):
    """The LMS would refuse the whole file."""


@dataclass(frozen=True)
class Seen:
    """One row as the LMS understands it.

    kind      meaning
    score     the grade becomes `score`
    excused   the student is excused
    clear     a grade that is there is erased
    nothing   the cell is passed over
    no_score  the text is no grade to this LMS, and what it stores is none
    """

    record: int
    """Number of the row in the file, the header being 0; blank lines do not count."""
    key: str
    """What the student is found by."""
    kind: Literal["score", "excused", "clear", "nothing", "no_score"]
    score: Decimal | None = None
    feedback: str | None = None
