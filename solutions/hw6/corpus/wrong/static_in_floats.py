"""Returns floating-point numbers.

fails: [static_bytes]
also: [public_static]
says: Bytes are integers, and floats are exact up to 2^53 only.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {
        "weights": (frozen + trainable) * weight,
        "grads": trainable * grad,
        "optimizer": trainable * state,
        "master": trainable * master,
    }
    parts = {name: float(part) for name, part in parts.items()}
    return parts | {"total": sum(parts.values())}
