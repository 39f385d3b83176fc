"""Asks for two rows, not for two different batches.

fails: ["line_errors[equal-batches]"]
also: [line_errors]
says: Several rows of one batch size determine no line either.
"""


def solve_fixed_and_slope(rows):
    if len(rows) < 2:
        raise ValueError("two rows are needed")
    mb, my = sum(b for b, _ in rows) / len(rows), sum(y for _, y in rows) / len(rows)
    per_sample = sum((b - mb) * (y - my) for b, y in rows) / sum((b - mb) ** 2 for b, _ in rows)
    return my - per_sample * mb, per_sample
