"""Masked scores are multiplied by 0 instead of becoming -inf.

fails: ["standard_values[float64-causal]"]
also: ["public_uniform[ragged-standard]", "public_uniform[causal-standard]", standard_values, standard_probabilities, standard_counts, "flops[full-standard]", "flops[causal-standard]"]
says: A masked score of 0 still has the weight exp(0); it has to be -inf.
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    tile = scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), False)
    hbm.write(S, tile.tril() if causal else tile)
    hbm.write(P, torch.softmax(hbm.read(S), dim=1))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
