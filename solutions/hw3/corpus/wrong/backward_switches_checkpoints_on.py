"""requires_grad of the caller's checkpoints is switched on.

fails: [backward_arguments]
says: requires_grad_() acts in place, on the caller's tensor.
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = []
    largest = recomputed = 0
    for segment in reversed(range(len(checkpoints))):
        start = checkpoints[segment].requires_grad_()
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
