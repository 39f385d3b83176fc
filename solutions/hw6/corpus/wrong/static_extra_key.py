"""Adds a key of its own.

fails: [static_bytes]
also: [public_static]
says: The dict has exactly the five keys of the docstring.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {
        "weights": (frozen + trainable) * weight,
        "grads": trainable * grad,
        "optimizer": trainable * state,
        "master": trainable * master,
    }
    total = sum(parts.values())
    return parts | {"total": total, "gib": total / 2**30}
