"""Moodle's gradebook import, with the column mapped to an existing numeric item: one bad cell aborts everything."""

from __future__ import annotations

import re
from decimal import Decimal

from autograder.lms.readers.php import is_numeric, moodle_rows, number_text
from autograder.lms.readers.seen import Rejected, Seen

STAMP = "Last downloaded from this course"
_YEAR = 365 * 24 * 3600


def read(
    data: bytes,
    title: str,
    *,
    sign: str = ".",
    feedback: str | None = None,
    key: str = "ID number",
    encoding: str = "utf-8",
    maximum: Decimal | None = None,
    now: float | None = None,
) -> list[Seen]:
    """`key`: the column mapped to the user. `sign`: the language's decimal sign. `now`: judge the download stamp."""
    rows = moodle_rows(data, encoding)
    header = [text.strip() for text in rows[0]]
    column, who = _only(header, title.strip()), _only(header, key.strip())
    said = None if feedback is None else _only(header, feedback.strip())
    seen = []
    for number, row in enumerate(rows[1:], 1):
        if now is not None and STAMP in header:
            _judge_stamp(row[header.index(STAMP)], number, now)
        text = row[column].strip()
        comment = None if said is None else row[said]
        if text in ("", "-"):
            seen.append(Seen(number, row[who].strip(), "clear", feedback=comment))
            continue
        plain = number_text(text, sign)
        if not is_numeric(plain):
            raise Rejected(f"the grade {text!r} on line {number + 1} is incorrect")
        score = Decimal(plain)
        if maximum is not None and not 0 <= score <= maximum:
            raise Rejected(f"the grade {text!r} on line {number + 1} is out of bounds")
        seen.append(Seen(number, row[who].strip(), "score", score, comment))
    return seen


def _only(header: list[str], title: str) -> int:
    if header.count(title) != 1:
        raise Rejected(f"{header.count(title)} columns are titled {title!r}")
    return header.index(title)


def _judge_stamp(text: str, number: int, now: float) -> None:
    if not re.fullmatch(r"[0-9]+", text.strip()) or not now - _YEAR <= int(text) <= now:
        raise Rejected(f"the download time {text!r} on line {number + 1} is no time within a year")
