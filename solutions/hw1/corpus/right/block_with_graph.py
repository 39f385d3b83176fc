"""Results carry a gradient."""

_plain = block_state


def block_state(S, V):
    S = S.clone().requires_grad_()
    return _plain(S, V)
