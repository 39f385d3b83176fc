"""RFC 4180 by the letter, with the standard library in strict mode."""

from __future__ import annotations

import csv
import io
from decimal import Decimal, InvalidOperation

from autograder.lms.readers.seen import Rejected, Seen


def read(
    data: bytes,
    title: str = "score",
    *,
    key: str = "id",
    delimiter: str = ",",
    feedback: str | None = "feedback",
    encoding: str = "utf-8",
) -> list[Seen]:
    """`state` (if the table has it) tells an excused student from one without a grade."""
    text = data.decode(encoding).removeprefix("\ufeff")
    table = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [row for row in table if any(map(str.strip, row))]
    except csv.Error as error:
        raise Rejected(f"malformed: {error}") from error
    header = rows[0]
    if any(len(row) != len(header) for row in rows) or title not in header or key not in header:
        raise Rejected("rows have different numbers of columns, or a column is missing")
    seen = []
    for number, row in enumerate(rows[1:], 1):
        values = dict(zip(header, row))
        said = values.get(feedback) if feedback else None
        seen.append(_seen(number, values[key], values[title].strip(), values.get("state", ""), said))
    return seen


def _seen(number: int, key: str, text: str, state: str, feedback: str | None) -> Seen:
    if state == "excused" and not text:
        return Seen(number, key, "excused", feedback=feedback)
    if not text:
        return Seen(number, key, "nothing", feedback=feedback)
    try:
        return Seen(number, key, "score", Decimal(text.replace(",", ".")), feedback)
    except InvalidOperation:
        return Seen(number, key, "no_score", feedback=feedback)
