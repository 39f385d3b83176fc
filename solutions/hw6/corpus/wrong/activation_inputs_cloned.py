"""Runs compact copies of the inputs, so that an input that is a view counts with its own elements only.

fails: ["activation_storages[input-is-a-view]"]
says: A view keeps its whole storage alive, run the inputs that were given.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*(value.detach().clone().requires_grad_(value.requires_grad) for value in inputs))
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
