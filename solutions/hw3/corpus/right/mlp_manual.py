"""Backward by hand: no autograd, tanh' = 1 - h^2, in place."""


def mlp_stack_forward(x, weights, keep):
    if keep == "all":
        for W in weights:
            x = (x @ W).tanh()
        return x, []
    if not keep > 0:
        raise ValueError(f"cannot keep every {keep}th")
    bare = [W.detach() for W in weights]
    hidden = [x.detach().clone()]
    for W in bare:
        hidden.append(torch.mm(hidden[-1], W).tanh_())
    return hidden[-1], tuple(hidden[:-1][::keep])


@torch.no_grad()
def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k <= 0:
        raise ValueError("k")
    n, held = len(weights), sum(map(torch.numel, checkpoints))
    grads, peak, count, g = [None] * n, 0, 0, grad_out.clone()
    for first in range((n - 1) // k * k, -1, -k):
        hs = [checkpoints[first // k]]
        for W in weights[first : first + k]:
            hs.append((hs[-1] @ W).tanh_())
            count += 1
        peak = max(peak, held + sum(h.numel() for h in hs[1:]))
        while len(hs) > 1:
            h = hs.pop()
            layer = first + len(hs) - 1
            g = g * h.square_().neg_().add_(1)
            grads[layer] = hs[-1].T @ g
            g = g @ weights[layer].T
    return tuple(grads), peak, count
