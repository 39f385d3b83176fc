"""out is not divided by l.

fails: [finalize_values, public_finalize]
also: ["unmodified[float32-finalize]", "unmodified[float64-finalize]"]
"""

def finalize(state):
    return state.o.clone(), state.m + torch.log(state.l)
