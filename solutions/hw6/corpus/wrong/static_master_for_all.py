"""Frozen parameters get a master copy too.

fails: ["static_bytes[all-parts]"]
also: ["static_bytes[above-2^53]", "static_bytes[nothing-trainable]"]
says: Only what is trained needs a master copy.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    everything = frozen + trainable
    parts = {
        "weights": everything * weight,
        "grads": trainable * grad,
        "optimizer": trainable * state,
        "master": everything * master,
    }
    return parts | {"total": sum(parts.values())}
