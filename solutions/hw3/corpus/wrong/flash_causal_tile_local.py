"""The mask uses indices inside the tile instead of global ones.

fails: ["flash_gradients[float64-causal]", "public_flash_gradients[causal]"]
also: [flash_gradients, flash_extremes]
says: The mask compares positions in the sequence, not positions in the tile.
"""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T * scale
    if causal:
        row = torch.arange(len(Qi))[:, None]
        S = S.masked_fill(torch.arange(len(Kj)) > row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp(S - seen[:, None])
