"""A query does not see its own key.

fails: ["v2_values[float64-causal]", "v1_values[float64-causal]", "standard_values[float64-causal]"]
also: [v1_values, v1_statistics, v1_counts, v1_causal_counts, "flops[full-v1]", "flops[causal-v1]", on_chip, allocation, public_uniform, public_counts, public_lookup, block_errors, public_block_errors, v2_values, v2_logsumexp, v2_counts, v2_causal_counts, "flops[full-v2]", "flops[causal-v2]", standard_values, standard_probabilities, standard_counts, "flops[full-standard]", "flops[causal-standard]"]
says: Query i must see key i itself.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.sqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j >= i, -math.inf)
    return S
