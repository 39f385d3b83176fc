"""The total leaves out the master copy.

fails: ["static_bytes[all-parts]"]
also: ["static_bytes[above-2^53]", "static_bytes[nothing-frozen]"]
says: The total is the sum of all four parts.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {"weights": (frozen + trainable) * weight, "grads": trainable * grad, "optimizer": trainable * state}
    return parts | {"master": trainable * master, "total": sum(parts.values())}
