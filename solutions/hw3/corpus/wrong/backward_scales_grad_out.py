"""The incoming gradient is multiplied in place.

fails: [backward_arguments]
says: "grad_out belongs to the caller: *= changes it."
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
            for W, before, h in zip(reversed(part), reversed(hidden[:-1]), reversed(hidden[1:])):
                grad_out *= 1 - h**2
                grads.insert(0, before.T @ grad_out)
                grad_out = grad_out @ W.T
            largest = max(largest, sum(h.numel() for h in hidden[1:]))
            recomputed += len(part)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
