"""The arithmetic of a tile is done by numpy."""

import numpy as np


def flash_attention_v2(hbm, Q, K, V, *, block, causal=False):
    Br, Bc = check_block(block)
    N, d = Q.shape
    O, L = hbm.empty((N, d), dtype=Q.dtype), hbm.empty((N,), dtype=Q.dtype)
    for rows in blocks(N, Br):
        i = slice(*rows)
        q = hbm.read(Q[i]).numpy()
        m, l, o = np.full(len(q), -np.inf, q.dtype), np.zeros(len(q), q.dtype), np.zeros_like(q)
        for cols in blocks(N, Bc):
            if causal and in_future(rows, cols):
                break
            k, v = hbm.read(K[slice(*cols)]).numpy(), hbm.read(V[slice(*cols)]).numpy()
            s = q @ k.T / q.dtype.type(math.sqrt(d))
            if causal:
                s = np.where(np.arange(*cols) > np.arange(*rows)[:, None], -np.inf, s).astype(q.dtype)
            new = np.maximum(m, s.max(axis=1))
            p, rescale = np.exp(s - new[:, None]), np.exp(m - new)
            l, o, m = rescale * l + p.sum(axis=1), rescale[:, None] * o + np.dot(p, v), new
        hbm.write(O[i], torch.from_numpy(o / l[:, None]))
        hbm.write(L[i], torch.from_numpy(m + np.log(l)))
    return O, L
