"""The shift is the maximum of the first columns, moved only when it falls behind by more than 4."""


def block_state(S, V):
    start, top = S[:, :1].amax(dim=1), S.amax(dim=1)
    m = torch.where(top - start <= 4, start, top)
    P = torch.exp(S - torch.where(m == -torch.inf, 0.0, m)[:, None])
    return State(m, P.sum(dim=1), P @ V)
