"""States are merged through their log-sum-exp and come out normalised with l = 1."""


def merge_states(a, b):
    out_a, lse_a = finalize(a)
    out_b, lse_b = finalize(b)
    lse = torch.logaddexp(lse_a, lse_b)
    seen = lse > -torch.inf
    shift = torch.where(seen, lse, 0.0)
    o = torch.exp(lse_a - shift)[:, None] * out_a + torch.exp(lse_b - shift)[:, None] * out_b
    return State(lse, seen.to(o.dtype), o)
