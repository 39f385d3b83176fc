"""A small constant is added to the denominator.

fails: ["finalize_values[float64-rectangular]"]
also: [finalize_values, public_finalize]
"""


def finalize(state):
    return state.o / (state.l + 1e-6)[:, None], state.m + torch.log(state.l)
