"""D is computed and dQ first written while the first block of keys is visited."""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if not (Br >= 1 and Bc >= 1):
        raise ValueError(block)
    (N, d), dtype = Q.shape, Q.dtype
    scale = d**-0.5
    D, dQ, dK, dV = (hbm.empty(shape, dtype=dtype) for shape in ((N,), (N, d), (N, d), (N, d)))
    for j in range(0, N, Bc):
        Kj, Vj = hbm.read(K[j : j + Bc]), hbm.read(V[j : j + Bc])
        dKj, dVj = torch.zeros_like(Kj), torch.zeros_like(Vj)
        for i in range(j // Br * Br if causal else 0, N, Br):
            rows = slice(i, i + Br)
            Qi, dOi = hbm.read(Q[rows]), hbm.read(dO[rows])
            if j == 0:  # every row sees key 0, so every row comes by
                Di, dQi = (dOi * hbm.read(O[rows])).sum(1), torch.zeros_like(Qi)
                hbm.write(D[rows], Di)
            else:
                Di, dQi = hbm.read(D[rows]), hbm.read(dQ[rows])
            P = recompute_tile(Qi, Kj, hbm.read(L[rows]), scale, causal, i, j)
            dVj += P.T @ dOi
            dS = P * (dOi @ Vj.T - Di[:, None])
            dKj += dS.T @ Qi * scale
            hbm.write(dQ[rows], dQi + dS @ Kj * scale)
        hbm.write(dK[j : j + Bc], dKj)
        hbm.write(dV[j : j + Bc], dVj)
    return dQ, dK, dV
