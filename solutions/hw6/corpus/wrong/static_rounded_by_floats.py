"""Goes through floating point on the way to integers.

fails: ["static_bytes[above-2^53]"]
says: Floats are exact up to 2^53 only, stay in integers.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {
        "weights": (frozen + trainable) * weight,
        "grads": trainable * grad,
        "optimizer": trainable * state,
        "master": trainable * master,
    }
    return parts | {"total": int(torch.tensor(list(parts.values()), dtype=torch.float64).sum())}
