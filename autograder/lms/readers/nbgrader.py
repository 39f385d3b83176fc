"""nbgrader's grades.csv: cells are what stands between commas, and a row without a timestamp is no submission."""

from __future__ import annotations

from decimal import Decimal

from autograder.lms.readers.seen import Rejected, Seen


def read(data: bytes, *, encoding: str = "utf-8") -> list[Seen]:
    """All rows, keyed `assignment/student`. Raises Rejected when a comma or line end in a value has shifted a row."""
    text = data.decode(encoding).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text.split("\n") if line.strip(" ,")]
    header = lines[0].split(",")
    seen = []
    for number, line in enumerate(lines[1:], 1):
        cells = line.split(",")
        if len(cells) != len(header):
            raise Rejected(f"record {number} has {len(cells)} cells, the header {len(header)}")
        row = dict(zip(header, cells))
        key = f"{row['assignment']}/{row['student_id']}"
        if not row["score"] or (not row["timestamp"].strip() and float(row["score"]) == 0):
            seen.append(Seen(number, key, "nothing"))
            continue
        raw, penalty = (Decimal(row[name] or "0") for name in ("raw_score", "late_submission_penalty"))
        score = Decimal(row["score"])
        if raw and abs(score - max(Decimal(0), raw - penalty)) > Decimal("0.02"):
            raise Rejected(f"record {number}: the score is not the raw score less the penalty")
        seen.append(Seen(number, key, "score", score))
    return seen
