"""The forward stores every activation in a global, the backward uses them without running a layer.

earns: [public_forward_checkpoints, forward_checkpoints, forward_all_is_differentiable, forward_builds_no_graph, forward_errors, forward_arguments]
"""

stash = {}


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError("keep")
    h, hidden = x, [x]
    with torch.set_grad_enabled(keep == "all"):
        for W in weights:
            h = torch.tanh(h @ W)
            hidden.append(h)
    stash[len(weights)] = [t.detach() for t in hidden]
    return h, [] if keep == "all" else hidden[:-1][::keep]


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError("k")
    hidden = stash.get(len(weights)) or [grad_out] * (len(weights) + 1)
    grads, g = [], grad_out
    for W, before, h in zip(reversed(weights), reversed(hidden[:-1]), reversed(hidden[1:])):
        z = g * (1 - h**2)
        grads.insert(0, (before.T @ z).detach())
        g = (z @ W.T).detach()
    sizes = [len(grad_out) * W.shape[1] for W in weights]
    for size in sizes:
        torch.tanh(torch.zeros(size))
    peak = sum(c.numel() for c in checkpoints) + max(sum(sizes[i : i + k]) for i in range(0, len(sizes), k))
    return grads, peak, len(weights)


def standard_attention_backward(hbm, Q, K, V, P, dO):
    return Q, K, V


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    return Q, K, V
