"""Moodle, "Download all submissions": `Adaeze Okafor_51201_assignsubmission_file/softmax.py`, or without folders.

The number belongs to the assignment (the "Participant 51201" of its grading worksheet), not to the user. A team
submission has the group's name instead. (moodle, mod/assign/classes/downloader.php)
"""

from __future__ import annotations

import re
from collections import defaultdict

from autograder.collect.files import File, Listing, Problem, is_junk
from autograder.collect.hands import Claim, Hand, Reading, Spelling
from autograder.collect.layouts.context import Context, put_aside

_NAME = re.compile(r"(?P<name>.*?)(?:_(?P<id>\d+))?_assignsubmission_(?P<type>[a-z]+)(?:_(?P<rest>.*))?", re.DOTALL)
_BLIND = "participant"


def count(listing: Listing, context: Context) -> int:
    return sum(_NAME.fullmatch(name) is not None for name in _top(listing))


def read(listing: Listing, context: Context) -> Reading:
    reading = Reading("moodle")
    owners: dict[tuple[str, str], list[tuple[str, str, list[File]]]] = defaultdict(list)
    strangers = []
    for name, files in listing.by_folder().items():
        match = _NAME.fullmatch(name)
        if match is None:
            strangers += files
        else:
            owners[match["name"], match["id"] or ""].append((name, match["type"], files))
    for file in listing.top_files:
        match = _NAME.fullmatch(file.name)
        own = match and (match["rest"] or "")
        if match is None or not own:
            strangers.append(file)
        elif not is_junk((own,)):
            inner = File((own,), file.origin, file.size, file.read, file.problem)
            owners[match["name"], match["id"] or ""].append((file.origin, match["type"], [inner]))
    reading.hands = [_hand(name, number, parts) for (name, number), parts in owners.items()]
    put_aside(reading, strangers, "Moodle")
    return reading


def _top(listing: Listing) -> list[str]:
    return [*listing.top_folders, *(file.name for file in listing.top_files)]


def _hand(name: str, number: str, parts: list[tuple[str, str, list[File]]]) -> Hand:
    ids = (("moodle_id", number),) if number else ()
    claim = Claim(number or name, ids, "" if name.casefold() == _BLIND else name, Spelling.MOODLE)
    files = [file for _, kind, inner in parts if kind == "file" for file in inner]
    texts = [file for _, kind, inner in parts if kind != "file" for file in inner]
    hand = Hand([claim], files, sorted({entry for entry, _, _ in parts}))
    if texts and files:
        hand.notes.append("there is a text typed into Moodle too")
    elif texts:
        hand.odd.append(Problem("a text typed into Moodle, no file", "read it there, or ask for the file"))
    return hand
