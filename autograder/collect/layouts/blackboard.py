"""Blackboard, "Assignment File Download": `hw3_aokafor_attempt_2026-01-31-23-59-01_softmax.py` and a receipt `....txt`.

The receipt has the same name up to the time and says `Name: Adaeze Okafor (aokafor)`, which tells where in a name with
several underscores the user begins.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

from autograder.collect.files import MIB, File, Listing, Refused, is_junk
from autograder.collect.hands import Claim, Hand, Reading
from autograder.collect.layouts.context import Context, put_aside, without_prefix
from autograder.collect.layouts.times import blackboard_time, order_of

_NAME = re.compile(r"(?P<start>.+?)_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:\.txt|_(?P<rest>.+))", re.DOTALL)
_PERSON = re.compile(r"^Name:\s*(?P<name>.*?)\s*\((?P<user>[^()\s]+)\)\s*$", re.MULTILINE)
_TYPED = re.compile(r"^Submission Field:\s*\n(?P<text>.*?)^Comments:", re.MULTILINE | re.DOTALL)
_NOTHING_TYPED = "there is no student submission text data"


@dataclass
class _Attempt:
    files: list[File] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    receipt: str = ""


def count(listing: Listing, context: Context) -> int:
    return sum(_NAME.fullmatch(file.name) is not None for file in listing.top_files)


def read(listing: Listing, context: Context) -> Reading:
    reading = Reading("blackboard")
    attempts: dict[tuple[str, str], _Attempt] = defaultdict(_Attempt)
    strangers = [file for file in listing.files if len(file.path) > 1]
    for file in listing.top_files:
        match = _NAME.fullmatch(file.name)
        if match is None:
            strangers.append(file)
            continue
        attempt, own = attempts[match["start"], match["time"]], match["rest"]
        attempt.entries.append(file.origin)
        if own is None:
            attempt.receipt = _text(file)
        elif not is_junk((own,)):
            attempt.files.append(File((own,), file.origin, file.size, file.read, file.problem))
    owners = _owners(attempts, context)
    reading.hands = [_hand(owners[start], time, attempt) for (start, time), attempt in attempts.items()]
    put_aside(reading, strangers, "Blackboard")
    return reading


def _text(file: File) -> str:
    try:
        return file.read(MIB).decode("utf-8-sig", "replace").replace("\r\n", "\n") if file.problem is None else ""
    except Refused:
        return ""


def _owners(attempts: dict[tuple[str, str], _Attempt], context: Context) -> dict[str, Claim]:
    people: dict[str, re.Match[str]] = {}
    for (start, _), attempt in attempts.items():
        match = _PERSON.search(attempt.receipt)
        if match and start.casefold().endswith("_" + match["user"].casefold()):
            people[start] = match
    claims = {start: Claim(who["user"], (("login", who["user"]),), who["name"]) for start, who in people.items()}
    rest = sorted({start for start, _ in attempts} - set(claims))
    for start, user in without_prefix(rest, "_", "login", context).items():
        user = user or _only_user(start)
        claims[start] = Claim(user or start, (("login", user),) if user else ())
    return claims


def _only_user(start: str) -> str | None:
    """The user where one underscore leaves no choice."""
    return start.partition("_")[2] if start.count("_") == 1 else None


def _hand(claim: Claim, time: str, attempt: _Attempt) -> Hand:
    when = blackboard_time(time)
    hand = Hand([claim], attempt.files, attempt.entries)
    if when is not None:
        hand.submitted, hand.order = when.isoformat(), order_of(when)
    typed = _TYPED.search(attempt.receipt)
    if typed and typed["text"].strip() and _NOTHING_TYPED not in typed["text"].casefold():
        hand.notes.append("there is a text typed into Blackboard too")
    return hand
