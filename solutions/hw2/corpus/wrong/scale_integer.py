"""The square root of d is rounded down.

fails: [v2_values, v1_values, standard_values]
also: ["public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_uniform[ragged-v2]", "public_uniform[causal-v2]", standard_probabilities, v1_statistics, v2_logsumexp, standard_counts, v1_counts, v2_counts, on_chip, allocation]
says: Sqrt(d) is rounded to an integer, which shows where d is no square.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.isqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j > i, -math.inf)
    return S
