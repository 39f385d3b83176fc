"""The remainder is added to the last segment instead of being one of its own.

fails: ["forward_checkpoints[uneven]", "public_forward_checkpoints[7]"]
also: [forward_checkpoints, backward_round_trip]
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and layer % keep == 0 and (layer == 0 or layer + keep <= len(weights)):
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
