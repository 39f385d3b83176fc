"""The mask compares positions within the tile.

fails: ["v2_values[float64-causal]", "v1_values[float64-causal]"]
also: ["public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_uniform[ragged-v2]", "public_uniform[causal-v2]", v1_values, v1_statistics, v2_values, v2_logsumexp, v1_causal_counts, v2_causal_counts, "flops[full-v1]", "flops[causal-v1]", "flops[full-v2]", "flops[causal-v2]"]
says: The mask compares positions within the tile instead of positions in the sequence.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.sqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(len(Q))[:, None], torch.arange(len(K))[None, :]
        S = S.masked_fill(j > i, -math.inf)
    return S
