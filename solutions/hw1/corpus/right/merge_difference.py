"""Only the difference of the two shifts is exponentiated, the larger one keeps its factor 1."""


def merge_states(a, b):
    swap = b.m > a.m
    high, low = torch.where(swap, b.m, a.m), torch.where(swap, a.m, b.m)
    factor = torch.where(low == -torch.inf, 0.0, torch.exp(low - torch.where(low == -torch.inf, 0.0, high)))
    l = torch.where(swap, b.l, a.l) + factor * torch.where(swap, a.l, b.l)
    s = swap[:, None]
    return State(high, l, torch.where(s, b.o, a.o) + factor[:, None] * torch.where(s, a.o, b.o))
