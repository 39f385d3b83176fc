"""Zeros in l are replaced in place.

fails: [finalize_unmodified]
says: "state.l[...] = 1 changes the state of the caller."
"""


def finalize(state):
    empty = state.l == 0
    state.l[empty] = 1.0
    return state.o / state.l[:, None], torch.where(empty, -torch.inf, state.m + torch.log(state.l))
