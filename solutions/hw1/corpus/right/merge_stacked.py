"""Both states are stacked and reduced, as for any number of states."""


def merge_states(*states):
    m = torch.stack([s.m for s in states])
    top = m.amax(dim=0)
    w = torch.exp(m - torch.where(top == -torch.inf, 0.0, top))
    l = (w * torch.stack([s.l for s in states])).sum(0)
    o = torch.einsum("kr,krd->rd", w, torch.stack([s.o for s in states]))
    return State(top, l, o)
