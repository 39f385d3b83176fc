"""Clears the gradients before measuring.

fails: ["activation_leaves[gradients]"]
says: Gradients that had been accumulated are gone, leave them alone.
"""


def activation_bytes(module, *inputs):
    module.zero_grad()
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
