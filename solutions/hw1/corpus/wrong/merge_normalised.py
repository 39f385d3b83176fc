"""The outputs are averaged with normalised weights and l stays summed.

fails: [merge_values, public_merge, merge_grouping]
also: [merge_identity]
says: "The result of a merge is a state: o stays undivided."
"""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    shift = torch.where(m == -torch.inf, 0.0, m)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    l = alpha * a.l + beta * b.l
    o = (alpha[:, None] * a.o + beta[:, None] * b.o) / torch.where(l == 0, 1.0, l)[:, None]
    return State(m, l, o)
