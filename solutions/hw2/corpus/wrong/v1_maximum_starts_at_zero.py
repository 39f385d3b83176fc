"""m starts at 0.

fails: ["v1_values[float32-hot]", "v1_statistics[float32-hot]"]
also: ["v1_values[float32-causal]", "v1_values[float64-causal]", "v1_statistics[float32-causal]", "v1_statistics[float64-causal]"]
"""


def flash_attention_v1(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray, HBMArray]:
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.zeros((N, d), dtype=Q.dtype, name="O")
    l = hbm.zeros((N,), dtype=Q.dtype, name="l")
    m = hbm.full((N,), 0.0, dtype=Q.dtype, name="m")
    for cols in blocks(N, Bc):
        Kj, Vj = hbm.read(K[slice(*cols)]), hbm.read(V[slice(*cols)])  # (Bc, d)
        for rows in blocks(N, Br):
            if causal and in_future(rows, cols):
                continue
            i = slice(*rows)
            Qi, Oi, li, mi = hbm.read(Q[i]), hbm.read(O[i]), hbm.read(l[i]), hbm.read(m[i])
            S = scores(Qi, Kj, rows, cols, causal)
            m_new = torch.maximum(mi, S.amax(dim=1))
            P = torch.exp(S - m_new[:, None])
            l_old = torch.exp(mi - m_new) * li  # what the earlier blocks weigh now
            l_new = l_old + P.sum(dim=1)
            hbm.write(O[i], (l_old[:, None] * Oi + P @ Vj) / l_new[:, None])
            hbm.write(l[i], l_new)
            hbm.write(m[i], m_new)
    return O, l, m
