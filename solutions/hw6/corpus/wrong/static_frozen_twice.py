"""The weights of frozen parameters are counted twice.

fails: [static_bytes]
also: ["public_static[inference]", "public_static[lora]"]
says: A frozen weight exists once.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {
        "weights": (2 * frozen + trainable) * weight,
        "grads": trainable * grad,
        "optimizer": trainable * state,
        "master": trainable * master,
    }
    return parts | {"total": sum(parts.values())}
