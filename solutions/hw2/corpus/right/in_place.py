"""All tiles are updated in place, the product is accumulated by addmm_."""


def flash_attention_v2(hbm, Q, K, V, *, block, causal=False):
    Br, Bc = check_block(block)
    N, d = Q.shape
    O = hbm.empty((N, d), dtype=Q.dtype)
    L = hbm.empty((N,), dtype=Q.dtype)
    for rows in blocks(N, Br):
        i = slice(*rows)
        Qi = hbm.read(Q[i]).mul_(1 / math.sqrt(d))
        m = Qi.new_full((len(Qi), 1), -math.inf)
        l, o = torch.zeros_like(m), torch.zeros_like(Qi)
        for cols in blocks(N, Bc):
            if causal and in_future(rows, cols):
                break
            S = torch.mm(Qi, hbm.read(K[slice(*cols)]).t())
            if causal:
                S.masked_fill_(torch.arange(*cols) > torch.arange(*rows)[:, None], -math.inf)
            m_new = torch.maximum(m, S.amax(dim=1, keepdim=True))
            m.sub_(m_new).exp_()
            S.sub_(m_new).exp_()
            l.mul_(m).add_(S.sum(dim=1, keepdim=True))
            o.mul_(m).addmm_(S, hbm.read(V[slice(*cols)]))
            m = m_new
        hbm.write(O[i], o.div_(l))
        hbm.write(L[i], l.log_().add_(m)[:, 0])
    return O, L
