"""The first state is rescaled in place.

fails: [merge_unmodified]
says: "Methods with a trailing underscore change the state of the caller."
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    shift = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    a.l.mul_(alpha).add_(beta * b.l)
    a.o.mul_(alpha[:, None]).add_(beta[:, None] * b.o)
    return State(m, a.l, a.o)
