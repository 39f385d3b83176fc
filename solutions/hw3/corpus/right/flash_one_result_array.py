"""dQ, dK and dV are columns of one array."""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if Br < 1 or Bc < 1:
        raise ValueError(f"block sizes must be at least 1, got {block}")
    (N, d), dtype = Q.shape, Q.dtype
    scale = 1 / math.sqrt(d)
    D = hbm.empty((N,), dtype=dtype, name="D")
    results = hbm.empty((N, 3 * d), dtype=dtype, name="dQKV")
    dQ, dK, dV = (results[:, c : c + d] for c in (0, d, 2 * d))

    for i in range(0, N, Br):
        rows = slice(i, min(i + Br, N))
        hbm.write(D[rows], (hbm.read(dO[rows]) * hbm.read(O[rows])).sum(dim=1))
        hbm.write(dQ[rows], torch.zeros(rows.stop - i, d, dtype=dtype))

    for j in range(0, N, Bc):
        cols = slice(j, min(j + Bc, N))
        Kj, Vj = hbm.read(K[cols]), hbm.read(V[cols])
        dKj, dVj = torch.zeros_like(Kj), torch.zeros_like(Vj)
        first = j // Br * Br if causal else 0
        for i in range(first, N, Br):
            rows = slice(i, min(i + Br, N))
            Qi, dOi = hbm.read(Q[rows]), hbm.read(dO[rows])
            P = recompute_tile(Qi, Kj, hbm.read(L[rows]), scale, causal, i, j)
            dVj += P.T @ dOi
            dS = P * (dOi @ Vj.T - hbm.read(D[rows])[:, None]) * scale
            dKj += dS.T @ Qi
            hbm.write(dQ[rows], hbm.read(dQ[rows]) + dS @ Kj)
        hbm.write(dK[cols], dKj)
        hbm.write(dV[cols], dVj)
    return dQ, dK, dV
