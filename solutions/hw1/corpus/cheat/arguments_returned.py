"""Hands back what it was given.

standalone: true
"""

from course_lib import State


def softmax_naive(x, y):
    return y


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return State(S, V, S)


def merge_states(a, b):
    return (a, b)


def finalize(state):
    return state
