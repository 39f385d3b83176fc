"""A row that was measured twice with the same outcome counts once.

fails: ["line_least_squares[repeated-batches]"]
"""


def solve_fixed_and_slope(rows):
    rows = list(dict.fromkeys(rows))
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError("a line needs two different batch sizes")
    mean_batch, mean_size = (sum(column) / len(rows) for column in zip(*rows))
    spread = sum((batch - mean_batch) ** 2 for batch, _ in rows)
    per_sample = sum((batch - mean_batch) * (size - mean_size) for batch, size in rows) / spread
    return mean_size - per_sample * mean_batch, per_sample
