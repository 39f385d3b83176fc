"""The factor 1/sqrt(d) is split between Q and K, and L joins the product as an extra column."""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = (int(size) for size in block)
    if Br <= 0 or Bc <= 0:
        raise ValueError("block")
    N, d = Q.shape
    root = d**-0.25
    make = lambda *shape: hbm.empty(shape, dtype=Q.dtype)
    D, dQ, dK, dV = make(N), make(N, d), make(N, d), make(N, d)
    blocks = [(i, min(i + Br, N)) for i in range(0, N, Br)]
    for a, b in blocks:
        tile = hbm.read(dO[a:b]).mul_(hbm.read(O[a:b]))
        hbm.write(D[a:b], tile.sum(-1))
        hbm.write(dQ[a:b], tile.zero_())
    for j in range(0, N, Bc):
        Kj, Vj = hbm.read(K[j : j + Bc]).mul_(root), hbm.read(V[j : j + Bc])
        dKj, dVj = torch.zeros_like(Kj), torch.zeros_like(Vj)
        for a, b in blocks:
            if causal and b - 1 < j:
                continue
            Qi, dOi, Li, Di = hbm.read(Q[a:b]).mul_(root), hbm.read(dO[a:b]), hbm.read(L[a:b]), hbm.read(D[a:b])
            tile = Qi @ Kj.T
            if causal:
                tile += torch.full_like(tile, -torch.inf).triu(a - j + 1)
            tile.sub_(Li[:, None]).exp_()
            tile[Li == -torch.inf] = 0
            dVj += tile.mT @ dOi
            tile *= (dOi @ Vj.mT).sub_(Di[:, None])
            dKj += tile.mT @ Qi * root
            hbm.write(dQ[a:b], hbm.read(dQ[a:b]).add_(tile @ Kj, alpha=root))
        hbm.write(dK[j : j + Bc], dKj)
        hbm.write(dV[j : j + Bc], dVj)
    return dQ, dK, dV
