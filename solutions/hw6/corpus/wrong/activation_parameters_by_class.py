"""Parameters are recognised by isinstance.

fails: [activation_basic]
also: ["public_activations[basic]", "public_activations[shared-saves]"]
says: A view of a weight is no nn.Parameter, compare storages.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages(twin.buffers())
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    saved = [t for t in saved if not isinstance(t, nn.Parameter)]
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
