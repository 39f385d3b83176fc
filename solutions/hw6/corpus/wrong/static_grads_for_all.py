"""Frozen parameters get gradients too.

fails: [static_bytes]
also: ["public_static[inference]", "public_static[lora]"]
says: A frozen parameter has no gradient.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    everything = frozen + trainable
    parts = {
        "weights": everything * weight,
        "grads": everything * grad,
        "optimizer": trainable * state,
        "master": trainable * master,
    }
    return parts | {"total": sum(parts.values())}
