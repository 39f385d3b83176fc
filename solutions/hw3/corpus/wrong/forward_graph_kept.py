"""Checkpoints are kept, and the graph as well.

fails: [forward_builds_no_graph]
says: "The output still refers to the whole graph: every activation stays alive."
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
    return h, checkpoints
