"""All parameters are made to require grad for the measurement.

fails: ["activation_modules[frozen]", "activation_modules[nothing-to-learn]"]
also: ["activation_leaves[requires_grad]", "activation_modules[adapters]"]
says: Frozen layers save less, leave requires_grad alone.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module).requires_grad_(True)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
