"""One shift for all rows.

fails: ["merge_values[float32-hot]"]
also: [merge_values, merge_grouping, merge_identity, public_merge]
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m).max().expand_as(a.m)
    shift = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    return State(m.clone(), alpha * a.l + beta * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)
