"""Rows that nobody has seen are cleaned up after the division."""


def finalize(state):
    m, l, o = state
    return torch.nan_to_num(o / l[:, None], nan=0.0), m + torch.log(l)
