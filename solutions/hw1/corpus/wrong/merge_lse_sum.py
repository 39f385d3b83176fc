"""The log-sum-exp of both are added.

fails: [merge_values, public_merge, merge_identity]
also: [merge_grouping]
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    shift = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    return State(m, a.l * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)
