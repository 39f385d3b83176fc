"""Puts the buffer objects back, with the values that forward wrote into them.

fails: ["activation_leaves[buffers]"]
also: ["activation_keeps_identity[batch-norm]", "activation_keeps_identity[replaced-buffer]", "public_leaves[batch-norm]"]
says: The old buffer object was written to, put its values back as well.
"""


def activation_bytes(module, *inputs):
    own = _storages([*module.parameters(), *module.buffers()])
    saved = []
    state = torch.get_rng_state()
    kept = {m: dict(m._buffers) for m in module.modules()}
    with saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        module(*inputs)
    torch.set_rng_state(state)
    for m, buffers in kept.items():
        m._buffers.update(buffers)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
