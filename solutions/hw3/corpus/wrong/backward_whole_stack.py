"""The whole stack is replayed at once from x, and the segment's peak reported.

fails: [backward_saves_one_segment]
says: All activations are held at once, whatever the reported peak says.
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    leaves = [W.detach().requires_grad_() for W in weights]
    h, sizes = checkpoints[0].detach(), []
    for W in leaves:
        h = torch.tanh(h @ W)
        sizes.append(h.numel())
    grads = torch.autograd.grad(h, leaves, grad_out)
    largest = max(sum(sizes[i : i + k]) for i in range(0, len(sizes), k))
    return grads, sum(c.numel() for c in checkpoints) + largest, len(weights)
