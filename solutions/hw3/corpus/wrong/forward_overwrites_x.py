"""The activations are computed in x's own memory when they fit.

fails: [forward_arguments]
says: x belongs to the caller.
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h.clone())
            new = torch.tanh(h @ W)
            h = new if keep == "all" or new.shape != x.shape else x.detach().copy_(new)
    return h, checkpoints
