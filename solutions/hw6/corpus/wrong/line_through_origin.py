"""The line goes through the origin.

fails: [line_through_two]
also: [public_line, line_least_squares]
says: There is a fixed part as well, solve for both.
"""


def solve_fixed_and_slope(rows):
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError("two different batches are needed")
    return 0.0, sum(b * y for b, y in rows) / sum(b * b for b, _ in rows)
