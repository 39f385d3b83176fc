"""Brightspace, "Download all submissions": `397063-2557369 - Mary-Ann Smith - Jan 31, 2026 1159 PM/` and an index.html.

Each submission is a folder of its own; older downloads put the same text before each file's name instead.
"""

from __future__ import annotations

import re
from collections import defaultdict

from autograder.collect.files import File, Listing, is_junk
from autograder.collect.hands import Claim, Hand, Reading
from autograder.collect.layouts.context import Context, put_aside
from autograder.collect.layouts.times import brightspace_time, order_of

_DATE = r"[^\W\d]{3,}\.? \d{1,2}, \d{4} \d{3,4}(?: ?[AP]M)?"
_FOLDER = re.compile(rf"(?P<user>\d+)-(?P<place>\d+) ?- ?(?P<name>.+) - (?P<date>{_DATE}|[^-]*\d{{4}}[^-]*)", re.DOTALL)
_FILE = re.compile(rf"(?P<user>\d+)-(?P<place>\d+) ?- ?(?P<name>.+?) ?- ?(?P<date>{_DATE}) ?- ?(?P<rest>.+)", re.DOTALL)


def count(listing: Listing, context: Context) -> int:
    folders = sum(_FOLDER.fullmatch(name) is not None for name in listing.top_folders)
    return folders + sum(_FILE.fullmatch(file.name) is not None for file in listing.top_files)


def read(listing: Listing, context: Context) -> Reading:
    reading = Reading("brightspace")
    found: dict[tuple[str, str, str], tuple[list[File], list[str]]] = defaultdict(lambda: ([], []))
    strangers = []
    for name, inner in listing.by_folder().items():
        match = _FOLDER.fullmatch(name)
        if match is None:
            strangers += inner
            continue
        files, entries = found[match["user"], match["name"].strip(), match["date"]]
        files += inner
        entries.append(name)
    for file in listing.top_files:
        match = _FILE.fullmatch(file.name)
        if match is None:
            if file.name.casefold() != "index.html":
                strangers.append(file)
        elif not is_junk((match["rest"],)):
            files, entries = found[match["user"], match["name"].strip(), match["date"]]
            files.append(File((match["rest"],), file.origin, file.size, file.read, file.problem))
            entries.append(file.origin)
    reading.hands = [_hand(user, name, date, *rest) for (user, name, date), rest in found.items()]
    put_aside(reading, strangers, "Brightspace")
    return reading


def _hand(user: str, name: str, date: str, files: list[File], entries: list[str]) -> Hand:
    when = brightspace_time(date)
    hand = Hand([Claim(name, (("brightspace_id", user),), name)], files, entries)
    if when is not None:
        hand.submitted, hand.order = when.isoformat(), order_of(when)
    return hand
