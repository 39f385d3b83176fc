"""Every layer builds its graph, and the result is detached afterwards.

fails: [forward_builds_no_graph]
says: Detaching after the fact throws a graph away that need not have been built.
"""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.enable_grad():
        for layer, W in enumerate(weights):
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
            h = h if keep == "all" else h.detach()
    return h, checkpoints
