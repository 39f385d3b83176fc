"""Two moments in the dtype of the weight for every parameter, whatever is held.

fails: [optimizer_state, optimizer_before_first_step]
also: [public_optimizer_state]
says: What an optimizer holds is in optimizer.state, look there.
"""


def optimizer_state_bytes(optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    held = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v)]
    return sum(2 * p.nbytes for p in parameters)
