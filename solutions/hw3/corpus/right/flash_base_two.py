"""P is recomputed to base 2, with log2(e) folded into scores and L."""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T * (scale * math.log2(math.e))
    if causal:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) > row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li * math.log2(math.e))
    return torch.exp2(S - seen[:, None])
