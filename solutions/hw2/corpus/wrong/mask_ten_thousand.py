"""Masked scores become -10000 instead of -inf: a kept score may be smaller still.

fails: ["standard_values[float64-causal]", "v1_values[float64-causal]", "v2_values[float64-causal]"]
also: ["standard_values[float32-causal]", "v1_values[float32-causal]", "v2_values[float32-causal]", "standard_probabilities[float32-causal]", "standard_probabilities[float64-causal]", "v1_statistics[float32-causal]", "v1_statistics[float64-causal]", "v2_logsumexp[float32-causal]", "v2_logsumexp[float64-causal]"]
says: A masked score must be -inf, or smaller than every score there can be; -10000 is not.
"""


def scores(Q: Tensor, K: Tensor, rows: Span, cols: Span, causal: bool) -> Tensor:
    S = Q @ K.T / math.sqrt(Q.shape[1])  # (Br, Bc)
    if causal and cols[1] - 1 > rows[0]:
        i, j = torch.arange(*rows)[:, None], torch.arange(*cols)[None, :]
        S = S.masked_fill(j > i, -1e4)
    return S
