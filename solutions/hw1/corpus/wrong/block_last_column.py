"""The last column is left out.

fails: [block_values, public_block]
"""

_plain = block_state


def block_state(S, V):
    c = max(S.shape[1] - 1, 1)
    return _plain(S[:, :c], V[:c])
