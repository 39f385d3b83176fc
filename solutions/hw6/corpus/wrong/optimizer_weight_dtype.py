"""Sizes the state with the element size of the weight.

fails: ["optimizer_state[quantized]", "optimizer_state[half-weights]"]
says: A state need not have the dtype of its weight, ask the state's tensor.
"""


def optimizer_state_bytes(optimizer):
    return sum(
        value.numel() * parameter.element_size()
        for parameter, state in optimizer.state.items()
        for value in state.values()
        if torch.is_tensor(value)
    )
