"""dK and dV of a block start from those of the block before.

fails: ["flash_gradients[float64-square]", public_flash_gradients]
also: [flash_gradients, flash_extremes]
"""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if Br < 1 or Bc < 1:
        raise ValueError(f"block sizes must be at least 1, got {block}")
    (N, d), dtype = Q.shape, Q.dtype
    scale = 1 / math.sqrt(d)
    D = hbm.empty((N,), dtype=dtype, name="D")
    dQ = hbm.zeros((N, d), dtype=dtype, name="dQ")
    dK = hbm.empty((N, d), dtype=dtype, name="dK")
    dV = hbm.empty((N, d), dtype=dtype, name="dV")

    for i in range(0, N, Br):
        rows = slice(i, min(i + Br, N))
        hbm.write(D[rows], (hbm.read(dO[rows]) * hbm.read(O[rows])).sum(dim=1))

    for j in range(0, N, Bc):
        cols = slice(j, min(j + Bc, N))
        Kj, Vj = hbm.read(K[cols]), hbm.read(V[cols])
        width = cols.stop - j
        dKj = torch.zeros_like(Kj) if j == 0 else dKj[:width]
        dVj = torch.zeros_like(Vj) if j == 0 else dVj[:width]
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
