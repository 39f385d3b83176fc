"""`collected.json`: what was collected from where, so that a second run knows what it did and nobody has to guess."""

from __future__ import annotations

from pathlib import Path

import msgspec

from autograder.errors import UsageError

FORMAT = 1
FILE = "collected.json"


class Oddity(msgspec.Struct, frozen=True):
    """Something that a person has to decide."""

    fact: str
    remedy: str


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A module that is no longer, or was never, the one to grade."""

    file: str
    sha256: str
    entries: list[str] = []
    submitted: str | None = None
    attempt: int | None = None


class Collected(msgspec.Struct, omit_defaults=True):
    """A student's state after the last run that found a hand-in."""

    folder: str
    layout: str
    entries: list[str] = []
    """What the hand-in is called in the download."""
    module_entry: str = ""
    """The file in it that the module was taken from."""
    sha256: str | None = None
    """Of the module that collect put in place; None while there is none."""
    source: str = ""
    """Fingerprint of the hand-in: the same as long as the download holds the same for this student."""
    late: bool | None = None
    submitted: str | None = None
    attempt: int | None = None
    order: list[int] | None = None
    group: list[str] = []
    """The other members, when it was handed in for a group."""
    notes: list[str] = []
    odd: list[Oddity] = []
    attempts: list[Attempt] = []


class Unplaced(msgspec.Struct, frozen=True):
    """An entry of the last download that belongs to nobody."""

    entry: str
    fact: str
    remedy: str


class Collection(msgspec.Struct):
    """One assignment's collected hand-ins."""

    format: int
    assignment: str
    module: str
    layout: str = ""
    """Of the last download."""
    source: str = ""
    students: dict[str, Collected] = {}
    unplaced: list[Unplaced] = []
    missing: list[str] = []
    """Students of the roster without a hand-in."""


def load(folder: Path, assignment: str, module: str) -> Collection:
    """The record in `folder`; an empty one when there is none.

    Raises:
        UsageError: it is damaged, of another version, or of another assignment.
    """
    path = folder / FILE
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Collection(FORMAT, assignment, module)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; see its permissions") from None
    try:
        found = msgspec.json.decode(data, type=Collection)
    except msgspec.DecodeError:
        found = None
    if found is None or found.format != FORMAT:
        raise UsageError(f"{path} is damaged or of another version; move it away, the hand-ins beside it stay")
    if found.assignment != assignment:
        raise UsageError(f"{path} belongs to {found.assignment}, not to {assignment}; give --out another folder")
    return found


def encode(collection: Collection) -> bytes:
    return msgspec.json.format(msgspec.json.encode(collection, order="sorted"), indent=1) + b"\n"
