"""The common shift is at least 0.

fails: ["merge_values[float32-hot]"]
also: [merge_values, merge_grouping, merge_identity]
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m).clamp(min=0)
    alpha, beta = torch.exp(a.m - m), torch.exp(b.m - m)
    return State(m, alpha * a.l + beta * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)
