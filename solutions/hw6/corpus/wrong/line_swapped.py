"""Returns the slope first.

fails: [line_through_two]
also: [public_line, line_least_squares]
says: The fixed part comes first.
"""


def solve_fixed_and_slope(rows, solve=solve_fixed_and_slope):
    fixed, per_sample = solve(rows)
    return per_sample, fixed
