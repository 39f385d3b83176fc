"""Clears all hooks of the module, those that were not its own too.

fails: ["activation_leaves[hooks]"]
says: Hooks that were there before belong to somebody else, remove only your own.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    for part in module.modules():
        part._forward_hooks.clear()
        part._forward_pre_hooks.clear()
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
