"""Returns lists nested deeper than any decoder wants to follow, and cycles.

standalone: true
"""

from course_lib import State


def _deep(levels=100_000):
    inner = []
    for _ in range(levels):
        inner = [inner]
    return inner


def _cycle():
    ring = {}
    ring["ring"] = [ring]
    return ring


def softmax_naive(x, y):
    return _deep()


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return _deep()


def merge_states(a, b):
    return _cycle()


def finalize(state):
    return (_deep(300), _cycle())
