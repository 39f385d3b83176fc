"""Everything is measured against the shift of the first state.

fails: ["merge_values[float32-hot]"]
also: [merge_values]
says: "exp(m_b - m_a) overflows when the second state lies far above the first."
"""


def merge_states(a, b):
    shift = torch.where(a.m == -torch.inf, b.m, a.m)
    shift = torch.where(shift == -torch.inf, 0.0, shift)
    alpha, beta = torch.exp(a.m - shift), torch.exp(b.m - shift)
    return State(shift, alpha * a.l + beta * b.l, alpha[:, None] * a.o + beta[:, None] * b.o)
