"""P holds exponentials that were not divided by their sum.

fails: [standard_values, standard_probabilities]
also: [standard_counts, "flops[full-standard]", "flops[causal-standard]", public_uniform, public_counts, public_lookup]
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    hbm.write(S, scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), causal))
    hbm.write(P, torch.exp(hbm.read(S)))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
