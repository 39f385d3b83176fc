"""Too little reported always counts as explained.

fails: ["reconcile_labels[unexplained]"]
also: [reconcile_labels, reconcile_tolerance, reconcile_boundaries]
says: Less than predicted needs an explanation too, compare the absolute value.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif residue <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
