"""Only saved tensors that require grad are counted.

fails: [activation_basic]
also: [public_activations]
says: Inputs and constants are saved although they need no gradient themselves.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    saved = [t for t in saved if t.requires_grad]
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
