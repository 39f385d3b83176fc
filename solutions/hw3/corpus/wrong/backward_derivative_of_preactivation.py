"""tanh' is computed as 1 - z^2 from the pre-activation z.

fails: [backward_gradients, public_checkpointed_backward]
says: The derivative is 1 - tanh(z)^2, that is 1 - h^2.
"""


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    grads, largest, recomputed = [], 0, 0
    with torch.no_grad():
        for segment in reversed(range(len(checkpoints))):
            part = weights[segment * k : (segment + 1) * k]
            hidden, before = [checkpoints[segment]], []
            for W in part:
                before.append(hidden[-1] @ W)
                hidden.append(torch.tanh(before[-1]))
            for W, h, z in zip(reversed(part), reversed(hidden[:-1]), reversed(before)):
                grad_z = grad_out * (1 - z**2)
                grads.insert(0, h.T @ grad_z)
                grad_out = grad_z @ W.T
            largest = max(largest, sum(h.numel() for h in hidden[1:]))
            recomputed += len(part)
    return grads, sum(c.numel() for c in checkpoints) + largest, recomputed
