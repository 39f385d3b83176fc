"""requires_grad of x and the weights is switched off to avoid the graph.

fails: [forward_arguments]
also: [backward_round_trip]
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    if keep != "all":
        for t in (x, *weights):
            t.requires_grad_(False)
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
