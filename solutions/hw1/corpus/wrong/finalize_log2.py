"""The logarithm has base 2.

fails: [finalize_values, public_finalize]
"""


def finalize(state):
    empty = state.l == 0
    out = state.o / torch.where(empty, 1.0, state.l)[:, None]
    return out, state.m + torch.log2(state.l)
