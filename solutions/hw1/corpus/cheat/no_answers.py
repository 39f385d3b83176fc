"""Constants everywhere: shapes right, values made up.

standalone: true
"""

import torch

from course_lib import State


def _half(*shape):
    return torch.full(shape, 0.5, dtype=torch.float64)


def softmax_naive(x, y):
    for i in range(len(y)):
        y.store(i, 0.5)


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return State(_half(len(S)), _half(len(S)), _half(len(S), V.shape[1]))


def merge_states(a, b):
    return State(_half(len(a.m)), _half(len(a.m)), _half(*a.o.shape))


def finalize(state):
    return (_half(*state.o.shape), _half(len(state.m)))
