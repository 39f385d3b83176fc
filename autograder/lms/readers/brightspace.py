"""Brightspace's grade import: `#` is no data, a value above the maximum is capped."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal

from autograder.lms.readers.seen import Rejected, Seen

_END = "End-of-Line Indicator"


def read(data: bytes, title: str, *, can_exceed: bool = False, encoding: str | None = None) -> list[Seen]:
    """The `Points Grade` column `title`. Raises Rejected without a user column or when a row does not end in `#`."""
    sniffed = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = data.decode(encoding or sniffed).removeprefix("\ufeff")
    first = text.split("\n", 1)[0]
    delimiter = max(",\t;", key=first.count)
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = [row for row in table if any(map(str.strip, row))]
    header = rows[0]
    users = [header.index(name) for name in ("OrgDefinedId", "Username") if name in header]
    if not users or header.count(title) != 1 or "Points Grade" not in title:
        raise Rejected("no OrgDefinedId or Username, or not exactly one column of that title")
    bound = re.search(r"MaxPoints:([0-9.,]+)", title)
    seen = []
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(header) or (_END in header and row[header.index(_END)] != "#"):
            raise Rejected(f"record {number} does not end where the header does")
        key = next((row[at][1:] if row[at].startswith("#") else row[at] for at in users if row[at].strip("#")), "")
        cell = row[header.index(title)].strip()
        if not re.fullmatch(r"-?[0-9]+(?:[.,][0-9]+)?", cell):
            seen.append(Seen(number, key, "no_score" if cell else "nothing"))
            continue
        score = Decimal(cell.replace(",", "."))
        if bound and not can_exceed:
            score = min(score, Decimal(bound[1].replace(",", ".")))
        seen.append(Seen(number, key, "score", score))
    return seen
