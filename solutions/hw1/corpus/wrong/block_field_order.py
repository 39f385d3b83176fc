"""The fields come in another order.

fails: [block_values, public_block]
"""

_plain = block_state


def block_state(S, V):
    m, l, o = _plain(S, V)
    return l, m, o
