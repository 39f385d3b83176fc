"""Layers after the last full segment are not run.

fails: ["forward_checkpoints[uneven]", "forward_checkpoints[short-tail]", "public_forward_checkpoints[7]"]
also: [forward_checkpoints, backward_round_trip, forward_arguments]
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights if keep == "all" else weights[: max(len(weights) // keep, 1) * keep]):
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
