"""Divides whole bytes by whole samples and drops the rest.

fails: ["line_through_two[small]"]
also: [line_through_two]
says: The slope is not a whole number of bytes in general.
"""


def solve_fixed_and_slope(rows):
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError("two different batches are needed")
    n, sb, sy = len(rows), sum(b for b, _ in rows), sum(y for _, y in rows)
    per_sample = (n * sum(b * y for b, y in rows) - sb * sy) // (n * sum(b * b for b, _ in rows) - sb * sb)
    return sy // n - per_sample * sb // n, per_sample
