"""Blackboard's upload of a work-offline file: users by Username, columns by the number after `|`."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal

from autograder.lms.readers.seen import Rejected, Seen


def read(data: bytes, title: str, *, encoding: str | None = None) -> list[Seen]:
    """The column with the id of `title`. Raises Rejected when it has none, or a row has no user."""
    rows = _rows(data, encoding)
    header = rows[0]
    wanted = re.search(r"\|([0-9]+)\s*\Z", title)
    if wanted is None:
        raise Rejected(f"{title!r} has no column id: Blackboard would create a text column")
    columns = [at for at, name in enumerate(header) if re.search(rf"\|{wanted[1]}\s*\Z", name)]
    if len(columns) != 1 or "Username" not in header:
        raise Rejected("no Username column, or not exactly one grade column of that id")
    user = header.index("Username")
    feedback = header.index("Feedback to Learner") if "Feedback to Learner" in header else None
    seen = []
    for number, row in enumerate(rows[1:], 1):
        if not row[user].strip():
            raise Rejected(f"record {number} has no user name")
        said = None if feedback is None else row[feedback]
        seen.append(_seen(number, row[user], row[columns[0]].strip(), said))
    return seen


def _rows(data: bytes, encoding: str | None) -> list[list[str]]:
    if encoding is None:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = data.decode(encoding).removeprefix("\ufeff")
    first = text.split("\n", 1)[0]
    delimiter = "\t" if "\t" in first else ","
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(map(str.strip, row))
        ]
    except csv.Error as error:
        raise Rejected(f"malformed: {error}") from error
    if not rows or len({len(row) for row in rows}) != 1:
        raise Rejected("rows have different numbers of columns")
    return rows


def _seen(number: int, key: str, text: str, feedback: str | None) -> Seen:
    if not text:
        return Seen(number, key, "nothing", feedback=feedback)
    value = re.fullmatch(r"-?[0-9]+(?:[.,][0-9]+)?", text)
    if value is None:
        return Seen(number, key, "no_score", feedback=feedback)
    return Seen(number, key, "score", Decimal(text.replace(",", ".")), feedback)
