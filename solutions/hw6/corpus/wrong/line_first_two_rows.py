"""Uses the first two rows only.

fails: [line_least_squares]
says: All rows count, take the line of least squares.
"""


def solve_fixed_and_slope(rows):
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError("two different batches are needed")
    (b0, y0), (b1, y1) = rows[0], next(row for row in rows if row[0] != rows[0][0])
    per_sample = (y1 - y0) / (b1 - b0)
    return y0 - per_sample * b0, per_sample
