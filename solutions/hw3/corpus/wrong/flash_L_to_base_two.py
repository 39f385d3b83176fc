"""L is read as a logarithm to base 2.

fails: [flash_gradients, public_flash_gradients]
also: [flash_extremes]
says: L is a natural logarithm; with exp2 both S and L need the factor log2(e).
"""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T * scale
    if causal:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) > row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp2(S * 1.4426950408889634 - seen[:, None])
