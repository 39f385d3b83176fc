"""Canvas, "Download submissions": `okaforadaeze_LATE_700101_880001_softmax.py`, all files in one folder.

The parts are the sortable name in lower case without spaces, `LATE` when it was, the user's id, the file's id, and the
student's file name, to which Canvas adds `-1`, `-2` ... on a resubmission. (canvas-lms, lib/content_zipper.rb)
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from autograder.collect.files import File, Listing, Problem, is_junk
from autograder.collect.hands import Claim, Hand, Reading, Spelling
from autograder.collect.layouts.context import Context, put_aside

_FILE = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<user>anon_[^_]+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_TYPED = re.compile(r"(?P<name>.*?)(?P<late>_LATE)?_(?P<user>\d+)_(?P<kind>text|link)\.html", re.DOTALL)
_RESUBMITTED = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})(?P<suffix>\.[^.]+)")


@dataclass(frozen=True)
class _Part:
    file: File
    attempt: int
    number: int


def count(listing: Listing, context: Context) -> int:
    return sum(_match(name) is not None for name in {file.path[0] for file in listing.files})


def read(listing: Listing, context: Context) -> Reading:
    reading = Reading("canvas")
    users: dict[str, list[tuple[re.Match[str], File]]] = defaultdict(list)
    strangers = []
    for file in listing.files:  # a folder of such a name is an archive that somebody has unpacked
        match = _match(file.path[0])
        if match is None:
            strangers.append(file)
        else:
            users[match["user"]].append((match, file))
    for user, parts in users.items():
        reading.hands += _hands(user, parts, context)
    put_aside(reading, strangers, "Canvas")
    return reading


def _match(name: str) -> re.Match[str] | None:
    return _ANONYMOUS.fullmatch(name) or _TYPED.fullmatch(name) or _FILE.fullmatch(name)


def _hands(user: str, parts: list[tuple[re.Match[str], File]], context: Context) -> list[Hand]:
    names = sorted({match.groupdict().get("name") or "" for match, _ in parts})
    ids = () if user.startswith("anon_") else (("canvas_id", user),)
    claim = Claim(user, ids, names[0] if len(names) == 1 else "", Spelling.CANVAS)
    late = any(match["late"] for match, _ in parts)
    typed = [file for match, file in parts if "kind" in match.groupdict()]
    odd = [Problem("a text or a link typed into Canvas", "read it there") for _ in typed[:1]]
    files = [part for match, file in parts if (part := _part(match, file, context))]
    versions = sorted((part for part in files if part.file.name == context.module), key=lambda part: part.attempt)
    others = [part.file for part in files if part.file.name != context.module]
    if not _is_ordered(versions):
        return [Hand([claim], [part.file for part in files], [f.origin for _, f in parts], late, odd=odd)]
    newest = versions[-1] if versions else None
    entries = [file.origin for _, file in parts if file.origin not in {part.file.origin for part in versions[:-1]}]
    top = max((part.number for part in files), default=0)
    hands = [
        Hand([claim], [part.file], [part.file.origin], attempt=part.attempt, order=(part.number,))
        for part in versions[:-1]
    ]
    current = [*others, *([newest.file] if newest else [])]
    attempt = newest.attempt if newest else None
    return [*hands, Hand([claim], current, entries, late, attempt=attempt, order=(top,), odd=odd)]


def _part(match: re.Match[str], file: File, context: Context) -> _Part | None:
    """The student's own file; a suffix of a resubmission is taken off where that gives the module's name."""
    if "kind" in match.groupdict():
        return None
    path = file.path[1:] or (match["rest"],)
    name, attempt = path[-1], 1
    again = _RESUBMITTED.fullmatch(name)
    if again and again["stem"] + again["suffix"] == context.module:
        name, attempt = context.module, int(again["number"]) + 1
    if is_junk(path):
        return None
    return _Part(File((*path[:-1], name), file.origin, file.size, file.read, file.problem), attempt, int(match["file"]))


def _is_ordered(versions: list[_Part]) -> bool:
    """Whether suffixes and file ids agree on which one is the newest."""
    return all(a.attempt < b.attempt and a.number < b.number for a, b in pairwise(versions))
