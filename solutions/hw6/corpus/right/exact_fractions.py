"""The line, the tokens and the tolerance in exact fractions."""

from fractions import Fraction


def solve_fixed_and_slope(rows):
    n = len(rows)
    sb, sy = sum(Fraction(b) for b, _ in rows), sum(Fraction(y) for _, y in rows)
    determinant = n * sum(Fraction(b) ** 2 for b, _ in rows) - sb**2
    if determinant == 0:
        raise ValueError("the batches are all equal")
    per_sample = (n * sum(Fraction(b) * y for b, y in rows) - sb * sy) / determinant
    return [float((sy - per_sample * sb) / n), float(per_sample)]


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return float(Fraction(reported_bytes - static) / (Fraction(bytes_per_token) * batch))


def _verdict(row, bytes_per_token, tolerance):
    predicted = row.static + Fraction(bytes_per_token) * (row.tokens or 0) * row.batch
    label = "explained" if abs(row.reported - predicted) <= Fraction(tolerance) * row.reported else "unexplained"
    label = label if row.tokens is not None else "open"
    label = label if row.reported >= row.static else "impossible"
    return Verdict(
        row.name,
        label,
        float(row.reported - predicted),
        implied_tokens(row.reported, row.static, bytes_per_token, row.batch),
    )
