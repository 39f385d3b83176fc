"""o is rescaled with the factor of the first state on both sides.

fails: [merge_values, public_merge]
also: [merge_grouping, merge_identity]
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    shift = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    return State(m, alpha * a.l + beta * b.l, alpha[:, None] * (a.o + b.o))
