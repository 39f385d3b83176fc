"""l comes from an extra column of ones in V."""


def block_state(S, V):
    ones = torch.ones(V.shape[0], 1, dtype=V.dtype)
    m = S.amax(dim=1)
    P = torch.exp(S - m.masked_fill(m == -torch.inf, 0.0)[:, None])
    both = P @ torch.cat([V, ones], dim=1)
    return State(m, both[:, -1], both[:, :-1])
