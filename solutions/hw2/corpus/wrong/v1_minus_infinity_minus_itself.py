"""Tiles are shifted by their own maximum, which is -inf for a row that a tile masks wholly.

fails: ["v1_values[float64-causal]"]
also: ["public_uniform[ragged-v1]", "public_uniform[causal-v1]", v1_values, v1_statistics, v1_causal_counts]
says: A row that a tile masks wholly has the maximum -inf there, and -inf - (-inf) is NaN.
"""


def flash_attention_v1(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray, HBMArray]:
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.zeros((N, d), dtype=Q.dtype, name="O")
    l = hbm.zeros((N,), dtype=Q.dtype, name="l")
    m = hbm.full((N,), -math.inf, dtype=Q.dtype, name="m")
    for cols in blocks(N, Bc):
        Kj, Vj = hbm.read(K[slice(*cols)]), hbm.read(V[slice(*cols)])  # (Bc, d)
        for rows in blocks(N, Br):
            if causal and in_future(rows, cols):
                continue
            i = slice(*rows)
            Qi, Oi, li, mi = hbm.read(Q[i]), hbm.read(O[i]), hbm.read(l[i]), hbm.read(m[i])
            S = scores(Qi, Kj, rows, cols, causal)
            m_new = torch.maximum(mi, S.amax(dim=1))
            own = S.amax(dim=1)
            P = torch.exp(S - own[:, None]) * torch.exp(own - m_new)[:, None]
            l_old = torch.exp(mi - m_new) * li  # what the earlier blocks weigh now
            l_new = l_old + P.sum(dim=1)
            hbm.write(O[i], (l_old[:, None] * Oi + P @ Vj) / l_new[:, None])
            hbm.write(l[i], l_new)
            hbm.write(m[i], m_new)
    return O, l, m
