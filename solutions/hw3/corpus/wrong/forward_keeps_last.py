"""The output of the last layer is kept as well.

fails: ["forward_checkpoints[even]", "forward_checkpoints[one-segment]", "public_forward_checkpoints[6]"]
also: [forward_checkpoints, public_forward_checkpoints]
says: Nothing is replayed from the last activation, keeping it is memory for nothing.
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    if keep != "all" and len(weights) % keep == 0:
        checkpoints.append(h)
    return h, checkpoints
