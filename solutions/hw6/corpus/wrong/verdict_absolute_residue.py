"""The residue loses its sign.

fails: [reconcile_labels]
also: [public_reconcile]
says: A residue below zero says that less was reported than predicted, keep the sign.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, abs(residue), implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
