"""A query sees the key after its own.

fails: ["flash_gradients[float64-causal]", "public_flash_gradients[causal]"]
also: [flash_gradients, flash_extremes]
"""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T * scale
    if causal:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) > row + 1, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp(S - seen[:, None])
