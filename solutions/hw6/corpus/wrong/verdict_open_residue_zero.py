"""The residue of an open row is zero.

fails: ["reconcile_labels[open]"]
also: [public_reconcile, reconcile_labels]
says: Without tokens the residue is everything above static.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = row.tokens
    residue = 0 if known is None else row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
