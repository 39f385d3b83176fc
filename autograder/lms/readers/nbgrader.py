"""nbgrader's grades.csv: cells are what stands between commas, and a row without a timestamp is no submission."""

from __future__ import annotations

from decimal import Decimal

from autograder.lms.readers.seen import Rejected, Seen


def read(data: bytes) -> list[Seen]:
    """All rows, keyed `assignment/student`. Raises Rejected when a comma or line end in a value has shifted a row."""
    lines = [line for line in data.decode("utf-8-sig").splitlines() if line.strip()]
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
        if raw and score != max(Decimal(0), raw - penalty):
            raise Rejected(f"record {number}: the score is not the raw score less the penalty")
        seen.append(Seen(number, key, "score", score))
    return seen
