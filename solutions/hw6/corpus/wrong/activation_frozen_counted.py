"""Parameters that do not require grad are counted.

fails: ["activation_modules[frozen]"]
also: ["activation_leaves[requires_grad]", "activation_modules[adapters]"]
says: A frozen weight is still a parameter, leave it out.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([p for p in twin.parameters() if p.requires_grad] + list(twin.buffers()))
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
