"""Plain tuples and lists are returned, arguments are unpacked."""

_block, _merge, _finalize = block_state, merge_states, finalize


def block_state(S, V):
    m, l, o = _block(S, V)
    return m, l, o


def merge_states(a, b):
    return tuple(_merge(State(*a), State(*b)))


def finalize(state):
    return list(_finalize(State(*state)))
