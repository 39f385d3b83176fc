"""The scores are divided by sqrt(d) twice.

fails: [v2_values, v1_values, standard_values]
also: ["public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_uniform[ragged-v2]", "public_uniform[causal-v2]", standard_probabilities, v1_statistics, v2_logsumexp, standard_counts, v1_counts, v2_counts, v1_causal_counts, v2_causal_counts, flops, on_chip, allocation]
says: The scale 1 / sqrt(d) is applied twice.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.sqrt(Q.shape[1]) / math.sqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j > i, -math.inf)
    return S
