"""The causal flag skips blocks but never masks inside one.

fails: ["flash_gradients[float64-causal]", "public_flash_gradients[causal]"]
also: ["flash_gradients[float32-causal]", "flash_gradients[float32-tiny]", "flash_gradients[float64-tiny]", flash_extremes]
says: "A block on the diagonal is only partly visible: recomputing P there needs the mask as well."
"""


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = Qi @ Kj.T * scale
    if False:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) > row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp(S - seen[:, None])
