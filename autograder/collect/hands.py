"""What was handed in and by whom, as a download tells it; nothing is decided here."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from autograder.collect.files import File, Problem


class Spelling(Enum):
    """How a layout writes people's names."""

    PLAIN = "plain"
    CANVAS = "canvas"
    MOODLE = "moodle"


@dataclass(frozen=True)
class Claim:
    """Whose a hand-in says it is."""

    key: str
    """The layout's own key: the student id when there is no roster."""
    ids: tuple[tuple[str, str], ...] = ()
    """Values that identify one person: pairs of a roster column and what it must hold."""
    name: str = ""
    spelling: Spelling = Spelling.PLAIN
    anything: str = ""
    """A text that may be any of a student's keys or names, such as the name of a folder."""

    @property
    def shown(self) -> str:
        return self.name or self.anything or self.key


@dataclass
class Hand:
    """One hand-in: a student's, or a group's."""

    claims: list[Claim]
    files: list[File]
    entries: list[str]
    """What it is called in the download."""
    late: bool | None = None
    submitted: str | None = None
    """ISO 8601; without an offset it is the platform's own time."""
    attempt: int | None = None
    order: tuple[int, ...] | None = None
    """Compares attempts of one student within one layout, the larger being newer; None: the layout does not tell."""
    notes: list[str] = field(default_factory=list)
    odd: list[Problem] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    """Ids of the students whose it is, once that is known."""


@dataclass
class Reading:
    """A download, read in one layout."""

    layout: str
    hands: list[Hand] = field(default_factory=list)
    unplaced: list[tuple[str, Problem]] = field(default_factory=list)
    """Entries that belong to nobody."""
