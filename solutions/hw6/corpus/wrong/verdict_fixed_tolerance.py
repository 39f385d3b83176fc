"""The tolerance argument is ignored.

fails: [reconcile_tolerance]
also: [reconcile_boundaries]
says: The tolerance is an argument.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= 0.1 * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
