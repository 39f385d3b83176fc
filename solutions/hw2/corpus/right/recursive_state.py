"""Tiles become states that are merged with course_lib.State."""

from course_lib import State


def state_of(S, V):
    m = S.amax(dim=1)
    shift = torch.nan_to_num(m, neginf=0.0)
    P = torch.exp(S - shift[:, None])
    return State(m, P.sum(dim=1), P @ V)


def merged(a, b):
    m = torch.maximum(a.m, b.m)
    shift = torch.nan_to_num(m, neginf=0.0)
    x, y = torch.exp(a.m - shift), torch.exp(b.m - shift)
    return State(m, x * a.l + y * b.l, x[:, None] * a.o + y[:, None] * b.o)


def flash_attention_v2(hbm, Q, K, V, *, block, causal=False):
    Br, Bc = check_block(block)
    N, d = Q.shape
    O, L = hbm.empty(Q.shape, dtype=Q.dtype), hbm.empty(N, dtype=Q.dtype)
    for rows in blocks(N, Br):
        i = slice(*rows)
        Qi, state = hbm.read(Q[i]), None
        for cols in blocks(N, Bc):
            if not (causal and in_future(rows, cols)):
                Kj, Vj = (hbm.read(array[slice(*cols)]) for array in (K, V))
                tile = state_of(scores(Qi, Kj, rows, cols, causal), Vj)
                state = tile if state is None else merged(state, tile)
        hbm.write(O[i], state.o / state.l[:, None])
        hbm.write(L[i], state.m + state.l.log())
    return O, L
