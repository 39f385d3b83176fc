"""The tolerance is a share of the prediction.

fails: ["reconcile_boundaries[tolerance]"]
also: [reconcile_tolerance]
says: The tolerance is a share of what was reported.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= tolerance * (row.reported - residue):
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
