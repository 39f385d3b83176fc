"""Own tensors are recognised by data_ptr of the tensor, which a slice or row of a parameter does not share.

fails: ["activation_storages[transposed-parameter]"]
says: A slice of a parameter begins at another address, compare storages.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = {t.data_ptr() for t in (*twin.parameters(), *twin.buffers())}
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    saved = [t for t in saved if t.data_ptr() not in own]
    return sum(storage.nbytes() for storage in _storages(saved).values())
