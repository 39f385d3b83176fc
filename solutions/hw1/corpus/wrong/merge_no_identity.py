"""Two states that have seen nothing merge to NaN.

fails: [merge_identity, public_merge]
also: [merge_values, merge_grouping]
says: "Where both maxima are -inf their difference is NaN: use a finite shift for such rows."
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    alpha, beta = torch.exp(a.m - m), torch.exp(b.m - m)
    return State(m, alpha * a.l + beta * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)
