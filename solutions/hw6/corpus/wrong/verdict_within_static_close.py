"""A little below static counts as explained when the tokens are known.

fails: ["reconcile_boundaries[impossible-first]"]
also: [reconcile_boundaries]
says: Below static is impossible, however close.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static and (row.tokens is None or abs(residue) > tolerance * row.reported):
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
