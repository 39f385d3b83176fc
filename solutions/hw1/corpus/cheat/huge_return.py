"""Returns more than the grader can hold.

standalone: true
"""

import torch

from course_lib import State


def _huge():
    return torch.zeros(1, dtype=torch.uint8).expand(1 << 33)


def softmax_naive(x, y):
    return "x" * (1 << 28)


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return _huge()


def merge_states(a, b):
    return [0] * (1 << 22)


def finalize(state):
    return ({i: i for i in range(200_000)}, b"x" * (1 << 28))
