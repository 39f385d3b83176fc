"""l is returned as its logarithm.

fails: [block_values, public_block]
"""

_plain = block_state


def block_state(S, V):
    m, l, o = _plain(S, V)
    return State(m, torch.log(l), o)
