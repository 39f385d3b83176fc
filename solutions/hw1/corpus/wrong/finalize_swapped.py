"""lse comes first.

fails: [finalize_values, public_finalize]
"""

_plain = finalize


def finalize(state):
    out, lse = _plain(state)
    return lse, out
