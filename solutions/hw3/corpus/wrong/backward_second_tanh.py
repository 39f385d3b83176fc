"""The derivative is computed with a second tanh of every layer.

fails: [backward_recomputes_once]
says: "The replayed activation h already holds tanh of the layer: its derivative is 1 - h^2."
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads, largest, recomputed = [], 0, 0
    with torch.no_grad():
        for segment in reversed(range(len(checkpoints))):
            part = weights[segment * k : (segment + 1) * k]
            hidden = [checkpoints[segment]]
            for W in part:
                hidden.append(torch.tanh(hidden[-1] @ W))
            for W, h in zip(reversed(part), reversed(hidden[:-1])):
                grad_z = grad_out * (1 - torch.tanh(h @ W) ** 2)
                grads.insert(0, h.T @ grad_z)
                grad_out = grad_z @ W.T
            largest = max(largest, sum(h.numel() for h in hidden[1:]))
            recomputed += len(part)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
