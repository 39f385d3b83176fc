"""Tiles are held transposed: keys down, queries across."""


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
        l, o = torch.zeros_like(m), torch.zeros_like(Qi).T
        for cols in blocks(N, Bc):
            if causal and in_future(rows, cols):
                break
            Kj, Vj = hbm.read(K[slice(*cols)]), hbm.read(V[slice(*cols)])  # (Bc, d)
            S = Kj @ Qi.T / math.sqrt(d)  # (Bc, Br)
            if causal:
                S[torch.arange(*cols)[:, None] > torch.arange(*rows)] = -math.inf
            m_new = torch.maximum(m, S.amax(dim=0))
            P = torch.exp(S - m_new)
            rescale = torch.exp(m - m_new)
            l = rescale * l + P.sum(dim=0)
            o = rescale * o + Vj.T @ P
            m = m_new
        hbm.write(O[i], (o / l).T)
        hbm.write(L[i], m + torch.log(l))
    return O, L
