"""The softmax does not subtract the maximum.

fails: ["standard_values[float32-hot]", "public_lookup[hot-standard]"]
also: [standard_values, standard_probabilities]
says: Exp overflows for large scores, subtract the largest score of each row first.
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    hbm.write(S, scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), causal))
    hbm.write(P, (lambda E: E / E.sum(dim=1, keepdim=True))(torch.exp(hbm.read(S))))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
