"""The recomputed scores are not scaled.

fails: [flash_gradients, public_flash_gradients]
also: [flash_extremes]
says: L belongs to scaled scores; recomputing P from unscaled ones gives no probabilities.
"""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T
    if causal:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) > row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp(S - seen[:, None])
