"""Every product, D included, is an einsum."""


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
        hbm.write(D[rows], torch.einsum("rd,rd->r", hbm.read(dO[rows]), hbm.read(O[rows])))

    for j in range(0, N, Bc):
        cols = slice(j, min(j + Bc, N))
        Kj, Vj = hbm.read(K[cols]), hbm.read(V[cols])
        dKj, dVj = torch.zeros_like(Kj), torch.zeros_like(Vj)
        first = j // Br * Br if causal else 0
        for i in range(first, N, Br):
            rows = slice(i, min(i + Br, N))
            Qi, dOi = hbm.read(Q[rows]), hbm.read(dO[rows])
            P = recompute_tile(Qi, Kj, hbm.read(L[rows]), scale, causal, i, j)
            dVj += torch.einsum("rc,rd->cd", P, dOi)
            dS = P * (torch.einsum("rd,cd->rc", dOi, Vj) - hbm.read(D[rows])[:, None]) * scale
            dKj += torch.einsum("rc,rd->cd", dS, Qi)
            hbm.write(dQ[rows], hbm.read(dQ[rows]) + torch.einsum("rc,cd->rd", dS, Kj))
        hbm.write(dK[cols], dKj)
        hbm.write(dV[cols], dVj)
    return dQ, dK, dV


def recompute_tile(Qi, Kj, Li, scale, causal, i, j):
    S = torch.einsum("rd,cd->rc", Qi, Kj) * scale
    if causal:
        row = torch.arange(i, i + len(Qi))[:, None]
        S = S.masked_fill(torch.arange(j, j + len(Kj)) > row, -math.inf)
    seen = torch.where(Li == -math.inf, math.inf, Li)
    return torch.exp(S - seen[:, None])
