"""Moodle's offline grading worksheet: nothing is checked, everything is cast, most trouble is silence."""

from __future__ import annotations

from decimal import Decimal

from autograder.lms.readers.php import as_float, moodle_rows, number_text
from autograder.lms.readers.seen import Rejected, Seen


def read(
    data: bytes,
    *,
    grade: str = "Grade",
    identifier: str = "Identifier",
    sign: str = ".",
    feedback: str | None = "Feedback comments",
    participant: str = "Participant ",
    encoding: str = "utf-8",
    maximum: Decimal | None = None,
    zero_is_lost: bool = False,
) -> list[Seen]:
    """`participant`: the word (with its space) of the session's language, cut off by its length from every identifier.

    `zero_is_lost`: read as the newest code does, which never stores a 0.
    """
    rows = moodle_rows(data, encoding)
    header = rows[0]
    if grade not in header or identifier not in header:
        raise Rejected("Moodle could not read the uploaded worksheet: a required column is missing")
    at = {name: header.index(name) for name in (grade, identifier)}
    lock = header.index("Grade can be changed") if "Grade can be changed" in header else None
    said = header.index(feedback) if feedback in header and header.index(feedback) > 0 else None
    seen = []
    for number, row in enumerate(rows[1:], 1):
        key = row[at[identifier]][len(participant) :]
        comment = None if said is None else row[said]
        text = number_text(row[at[grade]], sign)
        locked = lock is not None and row[lock] == "No"
        score = Decimal(as_float(text))
        skipped = not text or locked or score < 0 or (maximum is not None and score > maximum)
        if skipped or (zero_is_lost and score == 0):
            seen.append(Seen(number, key, "nothing", feedback=comment))
        else:
            seen.append(Seen(number, key, "score", score, comment))
    return seen
