"""Every tensor that hangs on a module is left out, plain attributes too.

fails: ["activation_storages[attributes]"]
also: ["public_activations[attributes]"]
says: A plain tensor attribute is neither parameter nor buffer, count it when it is saved.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    plain = [v for m in twin.modules() for v in vars(m).values() if torch.is_tensor(v)]
    own = _storages([*twin.parameters(), *twin.buffers(), *plain])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
