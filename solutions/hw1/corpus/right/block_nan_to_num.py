"""Rows of -inf are cleaned up after the fact."""


def block_state(S, V):
    m = S.max(dim=1).values
    P = torch.nan_to_num(torch.exp(S - m.unsqueeze(1)), nan=0.0)
    return State(m=m, l=P.sum(1), o=P.matmul(V))
