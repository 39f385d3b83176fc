"""Gradescope's grade table as its users' programs read it: by SID, else by e-mail; an empty score is no submission."""

from __future__ import annotations

import csv
import io
from decimal import Decimal, InvalidOperation

from autograder.lms.readers.seen import Rejected, Seen


def read(data: bytes, title: str, *, encoding: str = "utf-8") -> list[Seen]:
    """The column `title`. Raises Rejected for a table that is not rectangular or has no SID and no Email."""
    table = list(csv.reader(io.StringIO(data.decode(encoding).removeprefix("\ufeff"), newline=""), strict=True))
    rows = [row for row in table if any(map(str.strip, row))]
    header = rows[0]
    users = [header.index(name) for name in ("SID", "Student ID", "Email") if name in header]
    if not users or title not in header or any(len(row) != len(header) for row in rows):
        raise Rejected("not a table of grades")
    seen = []
    for number, row in enumerate(rows[1:], 1):
        key = next((row[at] for at in users if row[at]), "")
        text = row[header.index(title)].strip()
        try:
            seen.append(
                Seen(number, key, "score", Decimal(text.replace(",", "."))) if text else Seen(number, key, "nothing")
            )
        except InvalidOperation:
            seen.append(Seen(number, key, "no_score"))
    return seen
