"""Takes every element to be four bytes long.

fails: ["optimizer_state[half-weights]", "optimizer_state[quantized]"]
says: State is held in several dtypes, ask each tensor for its element size.
"""


def optimizer_state_bytes(optimizer):
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    held = [v for state in optimizer.state.values() for v in state.values() if torch.is_tensor(v)]
    return sum(4 * t.numel() for t in held)
