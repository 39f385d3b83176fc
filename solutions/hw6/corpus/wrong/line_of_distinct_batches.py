"""Keeps one row per batch and loses repeated measurements.

fails: ["line_least_squares[repeated-batches]"]
says: Repeated measurements of one batch all count.
"""


def solve_fixed_and_slope(rows, solve=solve_fixed_and_slope):
    return solve(list(dict(rows).items()))
