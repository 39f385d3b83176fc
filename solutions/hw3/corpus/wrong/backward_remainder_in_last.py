"""The last segment is assumed to be a full one, its start is computed from the end.

fails: ["backward_gradients[uneven]", "public_checkpointed_backward[five-layers]"]
also: [backward_gradients]
says: Segments are counted from the first layer; it is the last one that is shorter.
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads = []
    largest = recomputed = 0
    n = len(weights)
    for segment in reversed(range(len(checkpoints))):
        start = checkpoints[segment].detach().requires_grad_()
        leaves = [
            W.detach().requires_grad_()
            for W in weights[max(n - (len(checkpoints) - segment) * k, 0) : n - (len(checkpoints) - segment - 1) * k]
        ]
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
