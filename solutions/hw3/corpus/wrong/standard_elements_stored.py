"""P * dP is stored in HBM as a matrix of its own.

fails: [standard_traffic, public_standard_traffic]
says: P * dP and its row sum fit into the step that makes dS.
"""


def standard_attention_backward(hbm, Q, K, V, P, dO):
    scale = 1 / math.sqrt(Q.shape[1])

    def store(name, tile):
        array = hbm.empty(tuple(tile.shape), dtype=tile.dtype, name=name)
        hbm.write(array, tile)
        return array

    dV = store("dV", hbm.read(P).T @ hbm.read(dO))
    dP = store("dP", hbm.read(dO) @ hbm.read(V).T)
    p, dp = hbm.read(P), hbm.read(dP)
    products = store("P*dP", p * dp)
    dS = store("dS", p * (dp - hbm.read(products).sum(dim=1, keepdim=True)))
    dQ = store("dQ", hbm.read(dS) @ hbm.read(K) * scale)
    dK = store("dK", hbm.read(dS).T @ hbm.read(Q) * scale)
    return dQ, dK, dV
