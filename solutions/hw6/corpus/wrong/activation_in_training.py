"""The module is measured in training mode.

fails: ["activation_modules[evaluation]", "activation_modules[mixed-modes]"]
also: ["activation_leaves[grad-mode]", "activation_leaves[modes]"]
says: A module in evaluation mode saves less, measure in the mode the module is in.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module).train()
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
