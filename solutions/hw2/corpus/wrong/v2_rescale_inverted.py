"""o is divided by exp(m_old - m_new), the inverse factor that the paper misprints.

fails: [v2_values]
also: ["public_uniform[ragged-v2]", "public_uniform[causal-v2]", "public_lookup[hot-v2]", "public_counts[square-v2]", "public_counts[rectangular-v2]", v2_counts, v2_causal_counts, "flops[full-v2]", "flops[causal-v2]", "on_chip[square-v2]", "on_chip[rectangular-v2]", "on_chip[causal-v2]", "allocation[full-v2]", "allocation[causal-v2]", "block_errors[0x4-v2]", "block_errors[4x0-v2]", "block_errors[-1x4-v2]", "block_errors[4x-3-v2]", "public_block_errors[v2]"]
says: O is divided by the rescaling factor; it has to be multiplied by it.
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
        for cols in blocks(N, Bc):
            if causal and in_future(rows, cols):
                break
            Kj, Vj = hbm.read(K[slice(*cols)]), hbm.read(V[slice(*cols)])  # (Bc, d)
            S = scores(Qi, Kj, rows, cols, causal)
            m_new = torch.maximum(m, S.amax(dim=1))
            P = torch.exp(S - m_new[:, None])
            rescale = torch.exp(m - m_new)
            l = rescale * l + P.sum(dim=1)
            o = o / rescale[:, None] + P @ Vj
            m = m_new
        hbm.write(O[i], o / l[:, None])
        hbm.write(L[i], m + torch.log(l))
    return O, L
