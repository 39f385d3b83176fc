"""Products are written as einsum, statistics as logsumexp and logaddexp; o stays normalised."""


def flash_attention_v2(hbm, Q, K, V, *, block, causal=False):
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.empty((N, d), dtype=Q.dtype)
    L = hbm.empty((N,), dtype=Q.dtype)
    for rows in blocks(N, Br):
        i = slice(*rows)
        q, lse, o = hbm.read(Q[i]), None, None
        for cols in blocks(N, Bc):
            if causal and in_future(rows, cols):
                break
            s = torch.einsum("id,jd->ij", q, hbm.read(K[slice(*cols)])) * d**-0.5
            if causal:
                s = torch.where(torch.arange(*rows)[:, None] >= torch.arange(*cols), s, -math.inf)
            here = torch.logsumexp(s, dim=1)
            lse_new = here if lse is None else torch.logaddexp(lse, here)
            new = torch.einsum("ij,jd->id", torch.exp(s - lse_new[:, None]), hbm.read(V[slice(*cols)]))
            o = new if o is None else o * torch.exp(lse - lse_new)[:, None] + new
            lse = lse_new
        hbm.write(O[i], o)
        hbm.write(L[i], lse)
    return O, L
