"""Leaves a hook behind on every module.

fails: ["activation_leaves[hooks]"]
also: [public_leaves]
says: A hook that stays runs at every later forward pass, remove it.
"""


def activation_bytes(module, *inputs):
    for part in module.modules():
        part.register_forward_hook(lambda m, i, o: None)
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
