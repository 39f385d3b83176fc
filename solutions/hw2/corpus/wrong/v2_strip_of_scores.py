"""All scores of a block of rows are on chip before the softmax.

fails: [on_chip]
"""


def flash_attention_v2(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray]:
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
    L = hbm.empty((N,), dtype=Q.dtype, name="L")
    for rows in blocks(N, Br):
        i = slice(*rows)
        Qi = hbm.read(Q[i])  # (Br, d)
        m = Qi.new_full((len(Qi),), -math.inf)
        l, o = torch.zeros_like(m), torch.zeros_like(Qi)
        seen = [cols for cols in blocks(N, Bc) if not (causal and in_future(rows, cols))]
        S = torch.cat([scores(Qi, hbm.read(K[slice(*cols)]), rows, cols, causal) for cols in seen], dim=1)
        m = S.amax(dim=1)
        P = torch.exp(S - m[:, None])
        l = P.sum(dim=1)
        for cols in seen:
            o = o + P[:, slice(*cols)] @ hbm.read(V[slice(*cols)])
        hbm.write(O[i], o / l[:, None])
        hbm.write(L[i], m + torch.log(l))
    return O, L
