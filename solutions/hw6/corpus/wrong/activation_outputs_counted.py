"""The module's output is counted as well.

fails: [activation_basic]
also: ["public_activations[attributes]", "public_activations[basic]", "public_activations[shared-saves]", "public_activations[views]"]
says: An output is counted when something saved it, not because it came out.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        output = twin(*inputs)
    saved += [output] if torch.is_tensor(output) else []
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
