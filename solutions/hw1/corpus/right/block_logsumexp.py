"""m is the log-sum-exp, l is 1, o is already the average."""


def block_state(S, V):
    m = torch.logsumexp(S, dim=1)
    seen = m > -torch.inf
    P = torch.where(seen[:, None], torch.exp(S - torch.where(seen, m, 0.0)[:, None]), 0.0)
    return State(m, seen.to(S.dtype), P @ V)
