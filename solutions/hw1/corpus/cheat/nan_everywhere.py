"""NaN everywhere, as a wildcard.

standalone: true
"""

import torch

from course_lib import State


def _nan(*shape):
    return torch.full(shape, torch.nan, dtype=torch.float64)


def softmax_naive(x, y):
    for i in range(len(y)):
        y.store(i, float("nan"))


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return State(_nan(len(S)), _nan(len(S)), _nan(len(S), V.shape[1]))


def merge_states(a, b):
    return State(_nan(len(a.m)), _nan(len(a.m)), _nan(*a.o.shape))


def finalize(state):
    return (_nan(*state.o.shape), _nan(len(state.m)))
