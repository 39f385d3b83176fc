"""dS is written over the input P.

fails: [standard_gradients, public_standard_gradients]
says: "P is an input: dS needs memory of its own."
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
    dS = P
    hbm.write(P, p * (dp - (p * dp).sum(dim=1, keepdim=True)))
    dQ = store("dQ", hbm.read(dS) @ hbm.read(K) * scale)
    dK = store("dK", hbm.read(dS).T @ hbm.read(Q) * scale)
    return dQ, dK, dV
