"""Rounds down to whole tokens.

fails: [implied_tokens]
also: ["implied_tokens[negative]", "reconcile_labels[mixed]", "reconcile_labels[open]"]
says: Return the quotient as it is, a fraction tells how well it fits.
"""


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return (reported_bytes - static) // (bytes_per_token * batch)
