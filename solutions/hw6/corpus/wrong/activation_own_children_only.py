"""Only parameters of the module itself and its direct children are left out.

fails: [activation_basic]
also: ["public_activations[basic]"]
says: Parameters of nested modules are counted, collect them recursively.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(recurse=False), *twin.buffers(recurse=False)])
    for child in twin.children():
        own |= _storages(child.parameters(recurse=False))
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
