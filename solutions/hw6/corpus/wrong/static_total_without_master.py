"""The total leaves out the master copy.

fails: ["static_bytes[all-parts]"]
says: The total is the sum of all four parts.
"""

def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {"weights": (frozen + trainable) * weight, "grads": trainable * grad, "optimizer": trainable * state}
    return parts | {"master": trainable * master, "total": sum(parts.values())}
