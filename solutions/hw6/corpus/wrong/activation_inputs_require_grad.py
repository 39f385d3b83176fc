"""The inputs are made to require grad, so that more is saved than in training.

fails: ["activation_modules[nothing-to-learn]"]
also: ["activation_modules[adapters]", "activation_modules[autocast]"]
says: Whether an input requires grad decides what is saved, run the inputs as they are.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    leaves = [v.detach().requires_grad_(v.is_floating_point()) for v in inputs]
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*leaves)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
