"""o is divided by l already.

fails: [block_values, public_block]
says: "A state keeps o undivided: finalize divides once, at the end."
"""


def block_state(S, V):
    m = S.amax(dim=1)
    P = torch.exp(S - torch.where(m == -torch.inf, 0.0, m)[:, None])
    l = P.sum(dim=1)
    return State(m, l, P @ V / torch.where(l == 0, 1.0, l)[:, None])
