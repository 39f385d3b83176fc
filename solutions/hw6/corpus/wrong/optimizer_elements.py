"""Counts elements, not bytes.

fails: [optimizer_state]
also: [public_optimizer_state, optimizer_before_first_step]
says: The number of elements is not the number of bytes.
"""


def optimizer_state_bytes(optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    held = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v)]
    return sum(t.numel() for t in held)
