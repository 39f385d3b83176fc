"""Segment input and weights are cloned rather than detached; gradients come as a deque."""

from collections import deque


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = deque()
    largest = recomputed = 0
    for segment in reversed(range(len(checkpoints))):
        start = checkpoints[segment].detach().clone().requires_grad_()
        leaves = [W.detach().clone().requires_grad_() for W in weights[segment * k : (segment + 1) * k]]
        h, saved = start, 0
        with torch.enable_grad():
            for W in leaves:
                h = torch.tanh(h @ W)
                saved += h.numel()
        grad_out, *segment_grads = torch.autograd.grad(h, [start, *leaves], grad_out)
        grads.extendleft(reversed(segment_grads))
        largest = max(largest, saved)
        recomputed += len(leaves)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
