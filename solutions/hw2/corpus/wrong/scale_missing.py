"""The scores are not scaled.

fails: [v2_values, v1_values, standard_values]
also: [v1_statistics, v1_counts, v1_causal_counts, "flops[full-v1]", "flops[causal-v1]", on_chip, allocation, public_uniform, public_counts, public_lookup, block_errors, public_block_errors, v2_logsumexp, v2_counts, v2_causal_counts, "flops[full-v2]", "flops[causal-v2]", standard_probabilities, standard_counts, "flops[full-standard]", "flops[causal-standard]"]
says: The scores lack the factor 1 / sqrt(d).
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / 1  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j > i, -math.inf)
    return S
