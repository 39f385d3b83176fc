"""The block is computed in float32.

fails: ["block_values[float64-rectangular]"]
also: [block_values, public_block]
"""


def block_state(S, V):
    S, V = S.float(), V.float()
    m = S.amax(dim=1)
    P = torch.exp(S - torch.where(m == -torch.inf, 0.0, m)[:, None])
    return State(m, P.sum(dim=1), P @ V)
