"""The prediction forgets the batch.

fails: [reconcile_labels]
also: [public_reconcile, reconcile_tolerance, reconcile_boundaries]
says: Every sample of the batch has its tokens.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
