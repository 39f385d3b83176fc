"""Counts the moments by the names that Adam and momentum give them.

fails: ["optimizer_state[adagrad]", "optimizer_state[quantized]", "optimizer_state[amsgrad]"]
also: ["optimizer_state[groups]", optimizer_before_first_step]
says: Other optimizers name their state otherwise, count every tensor.
"""


def optimizer_state_bytes(optimizer):
    names = ("step", "exp_avg", "exp_avg_sq", "momentum_buffer")
    return sum(
        state[name].nbytes for state in optimizer.state.values() for name in names if torch.is_tensor(state.get(name))
    )
