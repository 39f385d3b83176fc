"""float32 blocks are computed and returned in float64."""

_block, _merge, _finalize = block_state, merge_states, finalize


def block_state(S, V):
    return _block(S.double(), V.double())


def merge_states(a, b):
    return _merge(State(*(t.double() for t in a)), State(*(t.double() for t in b)))


def finalize(state):
    return _finalize(State(*(t.double() for t in state)))
