"""The shift is the next integer above the maximum."""


def block_state(S, V):
    m = S.amax(dim=1).ceil()
    P = torch.exp(S - torch.where(torch.isinf(m), torch.zeros_like(m), m)[:, None])
    return State(m, P.sum(dim=1), torch.einsum("rc,cd->rd", P, V))
