"""K is read again for every row of Q.

fails: [standard_counts, "public_counts[square-standard]"]
also: ["public_counts[rectangular-standard]"]
says: K is read once per block of rows; the contract reads it once.
"""


def standard_attention(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    N, d = Q.shape
    S = hbm.empty((N, N), dtype=Q.dtype, name="S")
    P = hbm.empty((N, N), dtype=Q.dtype, name="P")
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    for rows in blocks(N, 8):
        i = slice(*rows)
        hbm.write(S[i], scores(hbm.read(Q[i]), hbm.read(K), rows, (0, N), causal))
    hbm.write(P, torch.softmax(hbm.read(S), dim=1))
    hbm.write(O, hbm.read(P) @ hbm.read(V))
    return O, P
