"""The inputs are not counted.

fails: [activation_basic]
also: [public_activations]
says: An input that is saved stays in memory until the backward pass, count it.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers(), *inputs])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
