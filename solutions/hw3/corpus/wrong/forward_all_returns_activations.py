"""keep="all" returns every activation as a checkpoint.

fails: [forward_checkpoints]
says: With keep="all" the graph holds the activations; the list of checkpoints is empty.
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep == "all" or layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
