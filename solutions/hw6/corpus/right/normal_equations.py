"""The line by the closed formula of sums, in integers as far as they go."""


def solve_fixed_and_slope(rows):
    rows = list(rows)
    n, sb, sy = len(rows), sum(b for b, _ in rows), sum(y for _, y in rows)
    sbb, sby = sum(b * b for b, _ in rows), sum(b * y for b, y in rows)
    if n * sbb == sb * sb:
        raise ValueError("fewer than two distinct batches")
    return (sbb * sy - sb * sby) / (n * sbb - sb * sb), (n * sby - sb * sy) / (n * sbb - sb * sb)
