"""Switches to the mode it needs and leaves every part in training mode.

fails: ["activation_leaves[modes]"]
says: Every part has a mode of its own, put back what each had.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    module.train()
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
