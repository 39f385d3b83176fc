"""Adds up the inputs of linear layers by their shapes, without any forward pass."""


def lora_parameters(layers, projections, d_model, rank):
    return 0


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    return {}


def optimizer_state_bytes(optimizer):
    return 0


def activation_bytes(module, *inputs):
    rows = inputs[0].numel() // inputs[0].shape[-1]
    layers = [m for m in module.modules() if isinstance(m, nn.Linear)]
    return sum(4 * rows * layer.in_features for layer in layers)


def solve_fixed_and_slope(rows):
    return 0.0, 0.0


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return 0.0


def reconcile(rows, bytes_per_token, tolerance=0.1):
    return []
