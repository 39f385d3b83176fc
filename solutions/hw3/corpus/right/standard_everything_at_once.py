"""Every input is read once and nothing but the results is written."""


def standard_attention_backward(hbm, Q, K, V, P, dO):
    q, k, v, p, g = (hbm.read(array) for array in (Q, K, V, P, dO))
    dp = g @ v.T
    ds = (dp - (p * dp).sum(-1, keepdim=True)).mul_(p).div_(math.sqrt(q.shape[-1]))
    results = []
    for tile in (ds @ k, ds.T @ q, p.T @ g):
        results.append(hbm.empty(q.shape, dtype=q.dtype))
        hbm.write(results[-1], tile)
    return results
