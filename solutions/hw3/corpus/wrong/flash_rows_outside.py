"""The loops are the other way round: dK and dV travel, dQ stays on chip.

fails: [flash_traffic]
also: [public_flash_traffic]
says: With Q outside, K, V, dK and dV make the round trip at every row block; the contract has K and V outside.
"""


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    Br, Bc = block
    if Br < 1 or Bc < 1:
        raise ValueError(f"block sizes must be at least 1, got {block}")
    (N, d), dtype = Q.shape, Q.dtype
    scale = 1 / math.sqrt(d)
    dQ = hbm.empty((N, d), dtype=dtype, name="dQ")
    dK = hbm.zeros((N, d), dtype=dtype, name="dK")
    dV = hbm.zeros((N, d), dtype=dtype, name="dV")
    for i in range(0, N, Br):
        rows = slice(i, min(i + Br, N))
        Qi, dOi, Li = hbm.read(Q[rows]), hbm.read(dO[rows]), hbm.read(L[rows])
        Di = (dOi * hbm.read(O[rows])).sum(dim=1, keepdim=True)
        dQi = torch.zeros_like(Qi)
        for j in range(0, rows.stop if causal else N, Bc):
            cols = slice(j, min(j + Bc, N))
            Kj, Vj = hbm.read(K[cols]), hbm.read(V[cols])
            P = recompute_tile(Qi, Kj, Li, scale, causal, i, j)
            hbm.write(dV[cols], hbm.read(dV[cols]) + P.T @ dOi)
            dS = P * (dOi @ Vj.T - Di) * scale
            hbm.write(dK[cols], hbm.read(dK[cols]) + dS.T @ Qi)
            dQi += dS @ Kj
        hbm.write(dQ[rows], dQi)
    return dQ, dK, dV
