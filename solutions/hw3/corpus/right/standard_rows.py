"""One loop over rows; dS never leaves in between, dK and dV are finished in a second loop over columns."""


def standard_attention_backward(hbm, Q, K, V, P, dO):
    (N, d), dtype = Q.shape, Q.dtype
    dQ, dK, dV = (hbm.empty((N, d), dtype=dtype) for _ in range(3))
    dS = hbm.empty((N, N), dtype=dtype)
    k, v = hbm.read(K), hbm.read(V)
    for i in range(0, N, 4):
        rows = slice(i, i + 4)
        p, g = hbm.read(P[rows]), hbm.read(dO[rows])
        dp = g @ v.T
        ds = p * (dp - torch.einsum("ij,ij->i", p, dp)[:, None]) / d**0.5
        hbm.write(dS[rows], ds)
        hbm.write(dQ[rows], ds @ k)
    q, g = hbm.read(Q), hbm.read(dO)
    for j in range(0, N, 4):
        hbm.write(dK[j : j + 4], hbm.read(dS[:, j : j + 4]).T @ q)
        hbm.write(dV[j : j + 4], hbm.read(P[:, j : j + 4]).T @ g)
    return dQ, dK, dV
