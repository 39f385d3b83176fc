"""One loop for dQ, another for dK and dV: every tile is recomputed twice.

fails: ["flash_traffic[square]", flash_flops]
also: [flash_traffic, public_flash_traffic]
says: "Both loops recompute P and dP: seven products per tile instead of five, and K and V are read again."
"""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if Br < 1 or Bc < 1:
        raise ValueError(f"block sizes must be at least 1, got {block}")
    (N, d), dtype = Q.shape, Q.dtype
    scale = 1 / math.sqrt(d)
    D, dQ, dK, dV = (hbm.empty(shape, dtype=dtype) for shape in ((N,), (N, d), (N, d), (N, d)))
    for i in range(0, N, Br):
        rows = slice(i, min(i + Br, N))
        Qi, dOi, Li = hbm.read(Q[rows]), hbm.read(dO[rows]), hbm.read(L[rows])
        Di = (dOi * hbm.read(O[rows])).sum(dim=1)
        dQi = torch.zeros_like(Qi)
        for j in range(0, rows.stop if causal else N, Bc):
            Kj, Vj = hbm.read(K[j : j + Bc]), hbm.read(V[j : j + Bc])
            P = recompute_tile(Qi, Kj, Li, scale, causal, i, j)
            dQi += (P * (dOi @ Vj.T - Di[:, None])) @ Kj * scale
        hbm.write(D[rows], Di)
        hbm.write(dQ[rows], dQi)
    for j in range(0, N, Bc):
        cols = slice(j, min(j + Bc, N))
        Kj, Vj = hbm.read(K[cols]), hbm.read(V[cols])
        dKj, dVj = torch.zeros_like(Kj), torch.zeros_like(Vj)
        for i in range(j // Br * Br if causal else 0, N, Br):
            rows = slice(i, min(i + Br, N))
            Qi, dOi = hbm.read(Q[rows]), hbm.read(dO[rows])
            P = recompute_tile(Qi, Kj, hbm.read(L[rows]), scale, causal, i, j)
            dVj += P.T @ dOi
            dKj += (P * (dOi @ Vj.T - hbm.read(D[rows])[:, None])).T @ Qi * scale
        hbm.write(dK[cols], dKj)
        hbm.write(dV[cols], dVj)
    return dQ, dK, dV
