"""Runs a backward pass too, which adds to the gradients of the inputs and needs a tensor for an output.

fails: ["activation_leaves[gradients]", "activation_modules[dict-output]", "activation_modules[tuple-output]"]
says: What is saved is known after the forward pass, no backward pass is needed.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        output = twin(*inputs)
    size = sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
    if output.requires_grad:
        output.sum().backward()
    return size
