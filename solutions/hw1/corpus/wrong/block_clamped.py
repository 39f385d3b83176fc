"""The maximum is clamped to at least -64.

fails: ["block_values[float64-hot]"]
also: [block_values]
"""


def block_state(S, V):
    m = S.amax(dim=1).clamp(min=-64)
    P = torch.exp(S - m[:, None])
    return State(m, P.sum(dim=1), P @ V)
