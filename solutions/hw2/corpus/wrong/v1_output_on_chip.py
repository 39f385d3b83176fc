"""O, l and m stay on chip for all rows and are written once at the end.

fails: ["on_chip[square-v1]", "on_chip[causal-v1]"]
also: [v1_counts, v1_causal_counts, "on_chip[rectangular-v1]"]
"""


def flash_attention_v1(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray, HBMArray]:
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.zeros((N, d), dtype=Q.dtype, name="O")
    l = hbm.zeros((N,), dtype=Q.dtype, name="l")
    m = hbm.full((N,), -math.inf, dtype=Q.dtype, name="m")
    kept = {}
    for cols in blocks(N, Bc):
        Kj, Vj = hbm.read(K[slice(*cols)]), hbm.read(V[slice(*cols)])  # (Bc, d)
        for rows in blocks(N, Br):
            if causal and in_future(rows, cols):
                continue
            i = slice(*rows)
            Qi, Oi, li, mi = hbm.read(Q[i]), *(kept.get(rows) or (hbm.read(O[i]), hbm.read(l[i]), hbm.read(m[i])))
            S = scores(Qi, Kj, rows, cols, causal)
            m_new = torch.maximum(mi, S.amax(dim=1))
            P = torch.exp(S - m_new[:, None])
            l_old = torch.exp(mi - m_new) * li  # what the earlier blocks weigh now
            l_new = l_old + P.sum(dim=1)
            kept[rows] = (l_old[:, None] * Oi + P @ Vj) / l_new[:, None], l_new, m_new
    for rows, (o, l_, m_) in kept.items():
        hbm.write(O[slice(*rows)], o)
        hbm.write(l[slice(*rows)], l_)
        hbm.write(m[slice(*rows)], m_)
    return O, l, m
