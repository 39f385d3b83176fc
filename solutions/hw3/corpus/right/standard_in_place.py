"""dS takes the place of dP in HBM."""


def standard_attention_backward(hbm, Q, K, V, P, dO):
    scale = 1 / math.sqrt(Q.shape[1])

    def store(name, tile):
        array = hbm.empty(tuple(tile.shape), dtype=tile.dtype, name=name)
        hbm.write(array, tile)
        return array

    dV = store("dV", hbm.read(P).T @ hbm.read(dO))
    dP = store("dP", hbm.read(dO) @ hbm.read(V).T)
    p, dp = hbm.read(P), hbm.read(dP)
    hbm.write(dP, p * (dp - (p * dp).sum(dim=1, keepdim=True)))
    dS = dP
    dQ = store("dQ", hbm.read(dS) @ hbm.read(K) * scale)
    dK = store("dK", hbm.read(dS).T @ hbm.read(Q) * scale)
    return dQ, dK, dV
