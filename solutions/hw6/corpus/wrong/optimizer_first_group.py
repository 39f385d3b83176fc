"""Looks at the first parameter group only.

fails: ["optimizer_state[groups]"]
says: An optimizer may have several parameter groups.
"""


def optimizer_state_bytes(optimizer):
    states = [optimizer.state.get(p, {}) for p in optimizer.param_groups[0]["params"]]
    return sum(v.nbytes for state in states for v in state.values() if torch.is_tensor(v))
