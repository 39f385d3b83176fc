"""For every layer its segment is run again from the checkpoint.

fails: [backward_recomputes_once]
says: k layers are run again k (k + 1) / 2 times this way.
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = []
    for layer in reversed(range(len(weights))):
        h = checkpoints[layer // k].detach()
        for W in weights[layer // k * k : layer]:
            h = torch.tanh(h @ W.detach())
        h, W = h.requires_grad_(), weights[layer].detach().requires_grad_()
        grad_out, grad = torch.autograd.grad(torch.tanh(h @ W), [h, W], grad_out)
        grads.insert(0, grad)
        del h
    held = [c.detach() for c in checkpoints]
    sizes, h = [], held[0]
    for W in weights:
        sizes.append(len(h) * W.shape[1])
    largest = max(sum(sizes[i : i + k]) for i in range(0, len(sizes), k))
    return grads, sum(c.numel() for c in held) + largest, len(weights)
