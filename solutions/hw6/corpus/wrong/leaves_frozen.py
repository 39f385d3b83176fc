"""Freezes the parameters after measuring.

fails: ["activation_leaves[requires_grad]"]
says: Whether a parameter is trainable is not yours to change.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    for parameter in module.parameters():
        parameter.requires_grad_(True)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
