"""lse keeps a second dimension.

fails: [finalize_values, public_finalize]
"""

_plain = finalize


def finalize(state):
    out, lse = _plain(state)
    return out, lse[:, None]
