"""The replayed activations are written into the checkpoint's memory.

fails: [backward_arguments]
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads, largest, recomputed = [], 0, 0
    with torch.no_grad():
        for segment in reversed(range(len(checkpoints))):
            part = weights[segment * k : (segment + 1) * k]
            h, hidden = checkpoints[segment], [checkpoints[segment].clone()]
            for W in part:
                z = h @ W
                h = h.copy_(z).tanh_() if z.shape == h.shape else z.tanh_()
                hidden.append(h.clone())
            for W, before, h in zip(reversed(part), reversed(hidden[:-1]), reversed(hidden[1:])):
                grad_z = grad_out * (1 - h**2)
                grads.insert(0, before.T @ grad_z)
                grad_out = grad_z @ W.T
            largest = max(largest, sum(h.numel() for h in hidden[1:]))
            recomputed += len(part)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
