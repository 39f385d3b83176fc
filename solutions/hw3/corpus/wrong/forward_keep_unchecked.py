"""keep below 1 is not refused.

fails: [forward_errors]
"""


def mlp_stack_forward(x, weights, keep):
    h, checkpoints = x, []
    with torch.set_grad_enabled(keep == "all"):
        for layer, W in enumerate(weights):
            if keep != "all" and (layer == 0 or (keep > 0 and layer % keep == 0)):
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints
