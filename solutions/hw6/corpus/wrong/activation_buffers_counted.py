"""Only parameters are left out, buffers are counted.

fails: ["activation_storages[buffers]"]
says: Buffers belong to the module and are there without a forward pass, leave them out too.
"""

def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages(twin.parameters())
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
