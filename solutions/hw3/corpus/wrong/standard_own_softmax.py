"""P is ignored and computed again from Q and K, without the mask.

fails: ["standard_gradients[float64-causal]"]
also: [standard_gradients, standard_traffic, public_standard_traffic]
says: P already carries the mask; recomputing it from Q and K loses it.
"""


def standard_attention_backward(hbm, Q, K, V, P, dO):
    scale = 1 / math.sqrt(Q.shape[1])

    def store(name, tile):
        array = hbm.empty(tuple(tile.shape), dtype=tile.dtype, name=name)
        hbm.write(array, tile)
        return array

    p = torch.softmax(hbm.read(Q) @ hbm.read(K).T * scale, dim=1)
    dV = store("dV", p.T @ hbm.read(dO))
    dP = store("dP", hbm.read(dO) @ hbm.read(V).T)
    dp = hbm.read(dP)
    dS = store("dS", p * (dp - (p * dp).sum(dim=1, keepdim=True)))
    dQ = store("dQ", hbm.read(dS) @ hbm.read(K) * scale)
    dK = store("dK", hbm.read(dS).T @ hbm.read(Q) * scale)
    return dQ, dK, dV
