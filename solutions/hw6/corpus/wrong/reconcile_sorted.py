"""Verdicts come sorted by label.

fails: ["reconcile_labels[mixed]"]
also: [public_reconcile, reconcile_labels, reconcile_tolerance, reconcile_boundaries]
says: Verdicts keep the order of the rows.
"""


def reconcile(rows, bytes_per_token, tolerance=0.1):
    verdicts = [_verdict(row, bytes_per_token, tolerance) for row in rows]
    return sorted(verdicts, key=lambda verdict: (verdict.label, verdict.name))
