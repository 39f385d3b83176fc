"""Runs the module itself and leaves its running statistics updated.

fails: ["activation_leaves[buffers]", activation_keeps_identity]
also: ["public_leaves[batch-norm]"]
says: The forward pass updated the running statistics, put them back.
"""


def activation_bytes(module, *inputs):
    own = _storages([*module.parameters(), *module.buffers()])
    saved = []
    state = torch.get_rng_state()
    with saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        module(*inputs)
    torch.set_rng_state(state)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
