"""Warms up with one forward pass and measures a second one.

fails: [activation_one_forward]
also: [activation_keeps_identity, activation_leaves, public_leaves]
says: Forward ran more than once, one pass is enough.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]):
        twin(*inputs)
        with saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
            twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
