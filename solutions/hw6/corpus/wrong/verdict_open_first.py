"""A row with unknown tokens is open, even when it lies below static.

fails: ["reconcile_boundaries[impossible-first]"]
also: [public_reconcile, reconcile_labels]
says: Below static no number of tokens helps, test for impossible first.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.tokens is None:
        label = "open"
    elif row.reported < row.static:
        label = "impossible"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
