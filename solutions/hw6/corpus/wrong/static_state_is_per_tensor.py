"""The state is taken to be two tensors of the weight's dtype.

fails: ["static_bytes[defaults]", "static_bytes[all-parts]"]
also: ["public_static[half]", "public_static[lora]", "static_bytes[above-2^53]", "static_bytes[nothing-frozen]"]
says: The argument state says how many bytes a parameter's state takes, do not derive it from the weight.
"""


def static_bytes(frozen, trainable, *, weight=2, grad=2, state=8, master=0):
    parts = {
        "weights": (frozen + trainable) * weight,
        "grads": trainable * grad,
        "optimizer": trainable * 2 * weight,
        "master": trainable * master,
    }
    return parts | {"total": sum(parts.values())}
