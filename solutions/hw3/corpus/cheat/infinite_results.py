"""Results are NaN, infinities and tensors that claim to equal anything.

earns: []
standalone: true
"""

import math

import torch


class Agreeable(torch.Tensor):
    def __eq__(self, other):
        return True

    def __le__(self, other):
        return True

    def __abs__(self):
        return torch.zeros(())


def poisoned(like):
    return torch.full(tuple(like.shape), math.nan, dtype=like.dtype).as_subclass(Agreeable)


def standard_attention_backward(hbm, Q, K, V, P, dO):
    return tuple(hbm.full(Q.shape, math.inf, dtype=Q.dtype) for _ in range(3))


def flash_attention_backward(hbm, Q, K, V, O, dO, L, *, block, causal=False):
    return tuple(hbm.full(Q.shape, math.nan, dtype=Q.dtype) for _ in range(3))


def mlp_stack_forward(x, weights, keep):
    return poisoned(x), []


class Any(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def checkpointed_backward(weights, checkpoints, k, grad_out):
    return [poisoned(W) for W in weights], Any(0), Any(0)
