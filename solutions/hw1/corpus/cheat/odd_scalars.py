"""Stores text, None, complex numbers and whole arrays.

standalone: true
"""

import numpy as np

from course_lib import State

_things = ["1", None, 1j, np.ones(1), [0.5], b"0"]


def softmax_naive(x, y):
    for i in range(len(y)):
        try:
            y.store(i, _things[i % len(_things)])
        except TypeError:
            y.store(i, float(i))


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return State(S[:, 0], S[:, 0], V[: len(S)])


def merge_states(a, b):
    return a


def finalize(state):
    return (state.o, state.m)
