"""Scores, softmax and product share one pass over the rows: S never reaches HBM, P is only written."""


def standard_attention(hbm, Q, K, V, *, causal=False):
    N, d = Q.shape
    P, O = hbm.empty((N, N), dtype=Q.dtype), hbm.empty((N, d), dtype=Q.dtype)
    keys, values = hbm.read(K), hbm.read(V)
    for rows in blocks(N, 8):
        i = slice(*rows)
        tile = scores(hbm.read(Q[i]), keys, rows, (0, N), causal)
        tile = torch.exp(tile - tile.amax(dim=1, keepdim=True))
        tile /= tile.sum(dim=1, keepdim=True)
        hbm.write(P[i], tile)
        hbm.write(O[i], tile @ values)
    return O, P
