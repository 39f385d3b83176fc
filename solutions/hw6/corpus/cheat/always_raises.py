"""Raises ValueError everywhere, to pass the checks of errors."""


def lora_parameters(layers, projections, d_model, rank):
    raise ValueError("batch")


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    raise ValueError("batch")


def optimizer_state_bytes(optimizer):
    raise ValueError("batch")


def activation_bytes(module, *inputs):
    raise ValueError("batch")


def solve_fixed_and_slope(rows):
    raise ValueError("batch")


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    raise ValueError("batch")


def reconcile(rows, bytes_per_token, tolerance=0.1):
    raise ValueError("batch")
