"""recomputed leaves out the last segment, as if its activations were still there.

fails: [backward_account, public_checkpointed_backward]
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
        grad_out, *segment_grads = torch.autograd.grad(h, [start, *leaves], grad_out)
        grads = segment_grads + grads
        largest = max(largest, saved)
        recomputed += len(leaves) if segment < len(checkpoints) - 1 else 0
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
