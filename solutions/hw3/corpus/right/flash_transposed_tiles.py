"""Tiles are kept as (Bc, Br): keys by rows."""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if min(block) < 1:
        raise ValueError("empty blocks")
    (N, d), dtype = Q.shape, Q.dtype
    D = hbm.empty(N, dtype=dtype)
    dQ = hbm.full((N, d), 0.0, dtype=dtype)
    dK, dV = hbm.empty((N, d), dtype=dtype), hbm.empty((N, d), dtype=dtype)
    for i in range(0, N, Br):
        hbm.write(D[i : i + Br], (hbm.read(dO[i : i + Br]).T * hbm.read(O[i : i + Br]).T).sum(0))
    for j in range(0, N, Bc):
        Kj, Vj = hbm.read(K[j : j + Bc]), hbm.read(V[j : j + Bc])
        dKj, dVj = 0, 0
        for i in range(0, N, Br):
            if causal and min(i + Br, N) <= j:
                continue
            Qi, dOi, Li, Di = (hbm.read(a[i : i + Br]) for a in (Q, dO, L, D))
            St = Kj @ Qi.T / d**0.5  # (Bc, Br)
            if causal:
                St[torch.arange(j, j + len(Kj))[:, None] > torch.arange(i, i + len(Qi))] = -torch.inf
            Pt = torch.exp(St - Li)
            Pt[:, torch.isinf(Li)] = 0
            dSt = Pt * (Vj @ dOi.T - Di)
            dVj = dVj + Pt @ dOi
            dKj = dKj + dSt @ Qi / d**0.5
            hbm.write(dQ[i : i + Br], hbm.read(dQ[i : i + Br]) + dSt.T @ Kj / d**0.5)
        hbm.write(dK[j : j + Bc], dKj)
        hbm.write(dV[j : j + Bc], dVj)
    return [dQ, dK, dV]
