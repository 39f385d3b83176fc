"""The block is built up by merging its columns."""


def block_state(S, V):
    state = None
    for j in range(S.shape[1]):
        m = S[:, j].clone()
        seen = (m > -torch.inf).to(S.dtype)
        column = State(m, seen, seen[:, None] * V[j])
        state = column if state is None else merge_states(state, column)
    return state
