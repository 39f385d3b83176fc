"""Segments go through torch.utils.checkpoint, which runs each of them twice.

fails: [backward_recomputes_once]
says: The forward that kept the checkpoints has run already; here every layer runs twice more.
"""

from torch.utils.checkpoint import checkpoint


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
            h = checkpoint(run, start, *leaves, use_reentrant=False)
            saved = sum(len(start) * W.shape[1] for W in leaves)
        grad_out, *segment_grads = torch.autograd.grad(h, [start, *leaves], grad_out)
        grads = segment_grads + grads
        largest = max(largest, saved)
        recomputed += len(leaves)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed


def run(h, *part):
    for W in part:
        h = torch.tanh(h @ W)
    return h
