"""The scores are not scaled.

fails: [v2_values, v1_values, standard_values]
also: ["public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_uniform[ragged-v2]", "public_uniform[causal-v2]", standard_probabilities, v1_statistics, v2_logsumexp, standard_counts, v1_counts, v2_counts, v1_causal_counts, v2_causal_counts, flops, on_chip, allocation]
says: The scores lack the factor 1 / sqrt(d).
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / 1  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j > i, -math.inf)
    return S
