"""The factors of rows that nobody has seen are NaN for a moment."""


def merge_states(a, b):
    m = torch.maximum(a.m, b.m)
    alpha = torch.nan_to_num(torch.exp(a.m - m), nan=0.0)
    beta = torch.nan_to_num(torch.exp(b.m - m), nan=0.0)
    return State(m, alpha * a.l + beta * b.l, alpha.view(-1, 1) * a.o + beta.view(-1, 1) * b.o)
