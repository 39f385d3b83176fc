"""The mask zeroes P after the softmax, so that rows no longer sum to 1.

fails: ["standard_values[float64-causal]", "standard_probabilities[float64-causal]"]
also: ["public_uniform[ragged-standard]", "public_uniform[causal-standard]", standard_values, standard_probabilities, standard_counts, "flops[full-standard]", "flops[causal-standard]"]
says: The mask is applied after the softmax, so the rows of P no longer sum to 1.
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    hbm.write(S, scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), False))
    hbm.write(P, torch.softmax(hbm.read(S), dim=1).tril() if causal else torch.softmax(hbm.read(S), dim=1))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
