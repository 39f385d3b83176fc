"""Checkpoints are the outputs of layers 0, k, 2k instead of their inputs.

fails: [forward_checkpoints, public_forward_checkpoints]
also: [backward_round_trip]
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            h = torch.tanh(h @ W)
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h)
    return h, checkpoints
