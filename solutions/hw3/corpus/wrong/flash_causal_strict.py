"""A query does not see its own key.

fails: ["flash_gradients[float64-causal]", "flash_gradients[float64-tiny]", "public_flash_gradients[causal]"]
also: [flash_gradients, flash_extremes]
says: Query i sees keys j <= i, its own included.
"""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T * scale
    if causal:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) >= row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp(S - seen[:, None])
