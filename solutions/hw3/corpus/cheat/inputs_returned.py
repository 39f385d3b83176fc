"""Input handles are returned as results.

earns: []
standalone: true
"""

import math

import torch


def standard_attention_backward(hbm, Q, K, V, P, dO):
    return Q, K, V


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    return Q, K, V


def mlp_stack_forward(x, weights, keep):
    return x, []


def checkpointed_backward(weights, checkpoints, k, grad_out):
    return [torch.zeros_like(W) for W in weights], 0, 0
