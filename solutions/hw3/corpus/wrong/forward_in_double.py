"""Whatever the precision of x, the output is float64.

fails: ["forward_checkpoints[float32]"]
"""


def mlp_stack_forward(x, weights, keep):
    if keep == "all":
        h = x
        for W in weights:
            h = torch.tanh(h @ W)
        return h, []
    if keep < 1:
        raise ValueError(f"keep is a number of layers of at least 1, not {keep}")
    checkpoints = []
    with torch.no_grad():
        h = x.detach()
        for l, W in enumerate(weights):
            if l % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h.double(), checkpoints
