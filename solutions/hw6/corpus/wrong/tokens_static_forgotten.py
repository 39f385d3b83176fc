"""Everything reported is attributed to tokens.

fails: [implied_tokens]
also: [public_implied_tokens, public_reconcile, "reconcile_labels[mixed]", "reconcile_labels[open]"]
says: Subtract what does not depend on the data first.
"""


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return reported_bytes / (bytes_per_token * batch)
