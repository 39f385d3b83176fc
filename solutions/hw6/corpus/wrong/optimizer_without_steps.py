"""Leaves out the step tensors.

fails: ["optimizer_state[adam]"]
also: ["optimizer_state[adagrad]", "optimizer_state[amsgrad]", "optimizer_state[frozen]", "optimizer_state[groups]", "optimizer_state[half-weights]", "optimizer_state[without-gradient]", "public_optimizer_state[adam]", optimizer_before_first_step]
says: The step of every parameter is a tensor as well, count it.
"""


def optimizer_state_bytes(optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    held = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v)]
    return sum(t.nbytes for t in held if t.dim() > 0)
