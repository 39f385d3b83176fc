"""The forward runs under inference_mode; the backward copies checkpoints before it uses them."""


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError(f"keep must be 'all' or at least 1, got {keep}")
    h, checkpoints = x, []
    with torch.enable_grad() if keep == "all" else torch.inference_mode():
        for layer, W in enumerate(weights):
            if keep != "all" and layer % keep == 0:
                checkpoints.append(h)
            h = torch.tanh(h @ W)
    return h, checkpoints


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = []
    largest = recomputed = 0
    for segment in reversed(range(len(checkpoints))):
        start = checkpoints[segment].clone().detach().requires_grad_()
        leaves = [W.detach().requires_grad_() for W in weights[segment * k : (segment + 1) * k]]
        h, saved = start, 0
        with torch.enable_grad():
            for W in leaves:
                h = torch.tanh(h @ W)
                saved += h.numel()
        grad_out, *segment_grads = torch.autograd.grad(h, [start, *leaves], grad_out)
        grads = segment_grads + grads
        largest = max(largest, saved)
        recomputed += len(leaves)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
