"""Masked rows of V are cleared in place.

fails: [block_unmodified]
"""

_plain = block_state


def block_state(S, V):
    V[(S == -torch.inf).all(dim=0)] = 0
    S[S == -torch.inf] = -torch.inf
    V *= 1.0
    state = _plain(S, V)
    V += 1e-3
    return state
