"""The input of the first segment is not kept.

fails: [forward_checkpoints, public_forward_checkpoints]
also: [backward_round_trip]
says: The first segment starts at x.
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and layer and layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
