"""Multiplies by the reciprocal of l; the mask comes from m."""


def finalize(state):
    m, l, o = state
    seen = m > -torch.inf
    inverse = torch.where(seen, 1 / torch.where(seen, l, 1.0), 0.0)
    lse = m.clone()
    lse[seen] += l[seen].log()
    return o * inverse.unsqueeze(-1), lse
