"""Verdicts are collected under the names of the rows: of rows with the same name only the last is judged.

fails: ["reconcile_labels[mixed]"]
"""


def reconcile(rows, bytes_per_token, tolerance=0.1):
    verdicts = {row.name: _verdict(row, bytes_per_token, tolerance) for row in rows}
    return list(verdicts.values())
