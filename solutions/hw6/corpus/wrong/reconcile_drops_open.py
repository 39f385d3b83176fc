"""Rows without tokens are left out.

fails: ["reconcile_labels[open]"]
also: [public_reconcile, reconcile_labels, reconcile_boundaries]
says: Every reported row gets a verdict.
"""


def reconcile(rows, bytes_per_token, tolerance=0.1):
    return [_verdict(row, bytes_per_token, tolerance) for row in rows if row.tokens is not None]
