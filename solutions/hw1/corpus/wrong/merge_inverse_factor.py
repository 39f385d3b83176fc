"""The factors are inverted.

fails: [merge_values, public_merge, merge_identity]
also: [merge_grouping]
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    m = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(m - a.m), torch.exp(m - b.m)
    return State(m, alpha * a.l + beta * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)
