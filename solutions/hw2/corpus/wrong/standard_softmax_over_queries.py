"""The softmax runs over the queries.

fails: [standard_values, standard_probabilities]
also: ["public_uniform[ragged-standard]", "public_uniform[causal-standard]", "public_counts[square-standard]", "public_counts[rectangular-standard]", standard_counts, "flops[full-standard]", "flops[causal-standard]"]
says: The softmax runs down the columns; each row of P has to sum to 1.
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    hbm.write(S, scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), causal))
    hbm.write(P, torch.softmax(hbm.read(S), dim=0))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
