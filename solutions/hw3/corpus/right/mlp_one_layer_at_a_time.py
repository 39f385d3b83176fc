"""Activations of a segment without a graph, then one small vjp per layer from its output."""


class OfOutput(torch.autograd.Function):
    """tanh whose value is known already."""

    @staticmethod
    def forward(ctx, z, h):
        ctx.save_for_backward(h)
        return h.view_as(h)

    @staticmethod
    def backward(ctx, grad):
        (h,) = ctx.saved_tensors
        return grad * (1 - h * h), None


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError("k must be positive")
    grads = {}
    largest = 0
    for s in range(len(checkpoints) - 1, -1, -1):
        layers = range(s * k, min(s * k + k, len(weights)))
        hs = [checkpoints[s].detach()]
        with torch.no_grad():
            for layer in layers:
                hs.append(torch.tanh(hs[-1] @ weights[layer]))
        largest = max(largest, sum(h.numel() for h in hs[1:]))
        for layer in reversed(layers):
            known = hs.pop()
            h, W = hs[-1].clone().requires_grad_(), weights[layer].detach().requires_grad_()
            grad_out, grads[layer] = torch.autograd.grad(OfOutput.apply(h @ W, known), [h, W], grad_out)
    return [grads[layer] for layer in range(len(weights))], largest + sum(c.numel() for c in checkpoints), len(weights)
