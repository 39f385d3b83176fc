"""The scores are shifted in place.

fails: [block_unmodified]
says: "S -= m changes the scores of the caller."
"""


def block_state(S, V):
    m = S.amax(dim=1)
    S -= torch.where(m == -torch.inf, 0.0, m)[:, None]
    P = torch.exp(S)
    return State(m, P.sum(dim=1), P @ V)
