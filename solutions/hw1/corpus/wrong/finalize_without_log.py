"""lse is m + l.

fails: [finalize_values, public_finalize]
says: "The log-sum-exp is m + log l."
"""


def finalize(state):
    out = state.o / torch.where(state.l == 0, 1.0, state.l)[:, None]
    return out, state.m + state.l
