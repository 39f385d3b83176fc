"""Clamps the fixed part at zero.

fails: ["line_through_two[negative-fixed]"]
also: [line_through_two]
says: A negative fixed part is a finding, return it as it is.
"""


def solve_fixed_and_slope(rows, solve=solve_fixed_and_slope):
    fixed, per_sample = solve(rows)
    return max(fixed, 0.0), per_sample
