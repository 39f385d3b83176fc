"""S is read once for the maximum and once for the exponentials.

fails: [standard_counts, "public_counts[square-standard]"]
also: ["public_counts[rectangular-standard]"]
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    hbm.write(S, scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), causal))
    hbm.write(P, torch.softmax(hbm.read(S) - hbm.read(S).amax(dim=1, keepdim=True), dim=1))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
