"""-inf becomes -1e9, so that a row of -inf becomes the mean of V.

fails: ["block_values[float32-masked]", public_block]
also: [block_values]
says: "A row of -inf has seen nothing: l and o are 0, not a uniform average."
"""


def block_state(S, V):
    S = S.clamp(min=-1e9)
    m = S.amax(dim=1)
    P = torch.exp(S - m[:, None])
    return State(m, P.sum(dim=1), P @ V)
