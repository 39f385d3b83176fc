"""l is clamped to at least 1.

fails: [finalize_values]
says: "l can be smaller than 1 when the shift is a bound above the maximum."
"""


def finalize(state):
    l = state.l.clamp(min=1)
    return state.o / l[:, None], torch.where(state.l == 0, -torch.inf, state.m + torch.log(l))
