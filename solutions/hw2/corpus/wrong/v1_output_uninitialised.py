"""O is allocated without zeros and read before it is written.

fails: [v1_values]
also: ["public_uniform[ragged-v1]", "public_uniform[causal-v1]", "public_lookup[hot-v1]", "public_counts[square-v1]", "public_counts[rectangular-v1]", v1_counts, v1_causal_counts, "flops[full-v1]", "flops[causal-v1]", "on_chip[square-v1]", "on_chip[rectangular-v1]", "on_chip[causal-v1]", "allocation[full-v1]", "allocation[causal-v1]", "block_errors[0x4-v1]", "block_errors[4x0-v1]", "block_errors[-1x4-v1]", "block_errors[4x-3-v1]", "public_block_errors[v1]"]
says: O is read before anything was written to it; what was never written is NaN.
"""


def flash_attention_v1(
    hbm: HBM, Q: HBMArray, K: HBMArray, V: HBMArray, *, block: tuple[int, int], causal: bool = False
) -> tuple[HBMArray, HBMArray, HBMArray]:
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.empty((N, d), dtype=Q.dtype, name="O")
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
            P = torch.exp(S - m_new[:, None])
            l_old = torch.exp(mi - m_new) * li  # what the earlier blocks weigh now
            l_new = l_old + P.sum(dim=1)
            hbm.write(O[i], (l_old[:, None] * Oi + P @ Vj) / l_new[:, None])
            hbm.write(l[i], l_new)
            hbm.write(m[i], m_new)
    return O, l, m
