"""The mode of the root is given to all parts before measuring.

fails: ["activation_modules[mixed-modes]"]
also: ["activation_leaves[grad-mode]", "activation_leaves[modes]", "activation_modules[evaluation]"]
says: Parts can be in another mode than the whole, leave the modes alone.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    twin.train(module.training)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
