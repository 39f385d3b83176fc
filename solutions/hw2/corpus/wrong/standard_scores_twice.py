"""Q K^T is computed twice.

fails: ["flops[full-standard]", "flops[causal-standard]"]
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    q, k = hbm.read(Q), hbm.read(K)
    scores(q, k, (0, N), (0, N), causal)
    hbm.write(S, scores(q, k, (0, N), (0, N), causal))
    hbm.write(P, torch.softmax(hbm.read(S), dim=1))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
