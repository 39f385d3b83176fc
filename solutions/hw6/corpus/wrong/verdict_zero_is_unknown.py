"""No tokens at all is taken for unknown.

fails: ["reconcile_boundaries[no-tokens]"]
also: [reconcile_boundaries]
says: 0 is a known number of tokens, only None is unknown.
"""


def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif not row.tokens:
        label = "open"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))
