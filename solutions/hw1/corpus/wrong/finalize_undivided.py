"""out is not divided by l.

fails: [finalize_values, public_finalize]
"""


def finalize(state):
    return state.o.clone(), state.m + torch.log(state.l)
