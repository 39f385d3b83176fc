"""Clamps the result at zero.

fails: ["implied_tokens[negative]"]
says: A negative number of tokens is how an impossible report shows, return it.
"""


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return max(0.0, (reported_bytes - static) / (bytes_per_token * batch))
