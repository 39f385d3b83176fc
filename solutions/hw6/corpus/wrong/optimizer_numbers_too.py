"""Counts eight bytes for a Python number in the state.

fails: ["optimizer_state[quantized]"]
says: Only tensors count, Python numbers do not.
"""


def optimizer_state_bytes(optimizer):
    values = [v for state in optimizer.state.values() for v in state.values()]
    return sum(v.nbytes if torch.is_tensor(v) else 8 for v in values if v is not None)
