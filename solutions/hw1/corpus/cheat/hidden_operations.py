"""Sends requests that the memory class never sends.

standalone: true
"""

from course_lib import State

OPS = ("values", "contents", "data", "trace", "_data", "reset", "__dict__")


def softmax_naive(x, y):
    link = getattr(x._back, "_link", None)
    for op in OPS:
        try:
            row = link.request(op)
            y.store(0, row[0])
        except Exception:
            pass
    for args in ((-1,), (10**9,), (True,), ("0",), (0, 0)):
        try:
            link.request("load", *args)
        except Exception:
            pass


softmax_safe = softmax_online = softmax_naive


def block_state(S, V):
    return State(S[:, 0], S[:, 0], V[: len(S)])


def merge_states(a, b):
    return a


def finalize(state):
    return (state.o, state.m)
