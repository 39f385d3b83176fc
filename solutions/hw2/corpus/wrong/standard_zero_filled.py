"""S, P and O are filled with zeros before they are written.

fails: [standard_counts]
also: ["public_counts[square-standard]", "public_counts[rectangular-standard]"]
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.zeros((N, N), dtype=Q.dtype, name="S")
    P = hbm.zeros((N, N), dtype=Q.dtype, name="P")
    O = hbm.zeros((N, d), dtype=Q.dtype, name="O")
    hbm.write(S, scores(hbm.read(Q), hbm.read(K), (0, N), (0, N), causal))
    hbm.write(P, torch.softmax(hbm.read(S), dim=1))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
