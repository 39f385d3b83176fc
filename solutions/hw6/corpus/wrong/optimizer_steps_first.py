"""Steps an optimizer that has no state yet.

fails: [optimizer_before_first_step]
also: [public_optimizer_state]
says: Measuring must not step, an optimizer without state holds 0 bytes.
"""


def optimizer_state_bytes(optimizer):
    if not optimizer.state:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                parameter.grad = torch.zeros_like(parameter)
        optimizer.step()
    return sum(v.nbytes for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v))
