"""Gradients are computed in float32 whatever the inputs are.

fails: ["standard_gradients[float64-square]", public_standard_gradients]
also: [standard_gradients]
"""


def standard_attention_backward(hbm, Q, K, V, P, dO):
    scale = 1 / math.sqrt(Q.shape[1])

    def store(name, tile):
        array = hbm.empty(tuple(tile.shape), dtype=Q.dtype, name=name)
        hbm.write(array, tile.to(array.dtype))
        return array

    dV = store("dV", hbm.read(P).T @ hbm.read(dO))
    dP = store("dP", hbm.read(dO) @ hbm.read(V).T)
    p, dp = hbm.read(P).float(), hbm.read(dP).float()
    dS = store("dS", p * (dp - (p * dp).sum(dim=1, keepdim=True)))
    dQ = store("dQ", hbm.read(dS) @ hbm.read(K) * scale)
    dK = store("dK", hbm.read(dS).T @ hbm.read(Q) * scale)
    return dQ, dK, dV
