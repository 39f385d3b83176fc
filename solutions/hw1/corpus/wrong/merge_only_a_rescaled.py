"""Only the first state is rescaled, as if the second always held the larger maximum.

fails: [merge_values, public_merge]
also: [merge_grouping]
says: "Either state may hold the smaller maximum: both need their factor."
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    alpha = torch.exp(a.m - torch.where(m == -torch.inf, 0.0, m))
    return State(m, alpha * a.l + b.l, alpha[:, None] * a.o + b.o)
