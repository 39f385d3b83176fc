"""Runs nothing and returns zero, so that nothing can have been changed."""


def lora_parameters(layers, projections, d_model, rank):
    return 0


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    return dict.fromkeys(["weights", "grads", "optimizer", "master", "total"], 0)


def optimizer_state_bytes(optimizer):
    return 0


def activation_bytes(module, *inputs):
    return 0


def solve_fixed_and_slope(rows):
    return 0.0, 0.0


def implied_tokens(reported_bytes, static, bytes_per_token, batch):
    return 0.0


def reconcile(rows, bytes_per_token, tolerance=0.1):
    return [Verdict(row.name, "open", 0, 0.0) for row in rows]
