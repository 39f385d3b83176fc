"""Allocates the results, writes nothing, moves nothing.

earns: []
standalone: true
"""

import math

import torch


def standard_attention_backward(hbm, Q, K, V, P, dO):
    return tuple(hbm.empty(Q.shape, dtype=Q.dtype) for _ in range(3))


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    if min(block) < 1:
        raise ValueError("block")
    return tuple(hbm.empty(Q.shape, dtype=Q.dtype) for _ in range(3))


def mlp_stack_forward(x, weights, keep):
    return x, []


def checkpointed_backward(weights, checkpoints, k, grad_out):
    return [torch.zeros_like(W) for W in weights], 0, 0
