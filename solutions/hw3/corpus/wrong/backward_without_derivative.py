"""The derivative of tanh is left out.

fails: [backward_gradients, public_checkpointed_backward]
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = []
    largest = recomputed = 0
    for segment in reversed(range(len(checkpoints))):
        start = checkpoints[segment].detach().requires_grad_()
        leaves = [W.detach().requires_grad_() for W in weights[segment * k : (segment + 1) * k]]
        h, saved = start, 0
        with torch.enable_grad():
            for W in leaves:
                h = torch.tanh(h @ W)
                saved += h.numel()
        hidden = [start]
        for W in leaves:
            hidden.append(torch.tanh(hidden[-1] @ W).detach())
        segment_grads = []
        for before, W in zip(hidden[-2::-1], leaves[::-1]):
            segment_grads.insert(0, (before.T @ grad_out).detach())
            grad_out = (grad_out @ W.T).detach()
        grads = segment_grads + grads
        largest = max(largest, saved)
        recomputed += len(leaves)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
