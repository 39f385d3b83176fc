"""An open row does not say how many tokens it would take.

fails: ["reconcile_labels[open]"]
also: [public_reconcile, reconcile_labels]
says: Say of an open row what it would take.
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
    return Verdict(row.name, label, residue, None)
