"""A query sees one key of the future.

fails: ["v2_values[float64-causal]", "v1_values[float64-causal]", "standard_values[float64-causal]"]
also: [standard_values, standard_probabilities, v1_values, v1_statistics, v2_values, v2_logsumexp, standard_counts, v1_causal_counts, v2_causal_counts, flops, on_chip, allocation, public_uniform]
says: Query i sees key i + 1, which lies in its future.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.sqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j > i + 1, -math.inf)
    return S
