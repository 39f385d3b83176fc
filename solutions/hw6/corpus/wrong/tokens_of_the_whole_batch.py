"""Tokens of the whole batch instead of one sample.

fails: [implied_tokens]
also: [public_implied_tokens, public_reconcile, "reconcile_labels[mixed]", "reconcile_labels[open]"]
says: Divide by the batch too, tokens are per sample.
"""


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return (reported_bytes - static) / bytes_per_token
