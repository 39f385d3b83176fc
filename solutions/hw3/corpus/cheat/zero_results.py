"""All gradients are zeros, with perfect traffic and a perfect account.

earns: []
standalone: true
"""

import math

import torch


def standard_attention_backward(hbm, Q, K, V, P, dO):
    return tuple(hbm.zeros(Q.shape, dtype=Q.dtype) for _ in range(3))


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    if min(block) < 1:
        raise ValueError("block")
    return tuple(hbm.zeros(Q.shape, dtype=Q.dtype) for _ in range(3))


def mlp_stack_forward(x, weights, keep):
    if keep != "all" and keep < 1:
        raise ValueError("keep")
    h = x.new_zeros(len(x), weights[-1].shape[1])
    return h, [] if keep == "all" else [h] * -(-len(weights) // keep)


def checkpointed_backward(weights, checkpoints, k, grad_out):
    if k < 1:
        raise ValueError("k")
    sizes = [len(grad_out) * W.shape[1] for W in weights]
    for size in sizes:
        torch.tanh(torch.zeros(size))
    peak = sum(c.numel() for c in checkpoints) + max(sum(sizes[i : i + k]) for i in range(0, len(sizes), k))
    return [torch.zeros_like(W) for W in weights], peak, len(weights)
