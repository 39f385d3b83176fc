"""Gradients are accumulated in .grad of the caller's weights.

fails: [backward_arguments]
says: backward() adds to .grad of the weights; the caller did not ask for that.
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = []
    largest = recomputed = 0
    for segment in reversed(range(len(checkpoints))):
        start = checkpoints[segment].detach().requires_grad_()
        leaves = list(weights[segment * k : (segment + 1) * k])
        h, saved = start, 0
        with torch.enable_grad():
            for W in leaves:
                h = torch.tanh(h @ W)
                saved += h.numel()
        before = [W.grad.clone() if W.grad is not None else 0 for W in leaves]
        h.backward(grad_out)
        grad_out, segment_grads = start.grad, [W.grad - b for W, b in zip(leaves, before)]
        grads = segment_grads + grads
        largest = max(largest, saved)
        recomputed += len(leaves)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
