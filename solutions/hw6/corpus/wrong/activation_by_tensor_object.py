"""Saved tensors are told apart by id of the tensor object.

fails: ["activation_storages[views]"]
also: [activation_attention, activation_grid, "activation_keeps_identity[tied]", "activation_storages[small-part-of-large]", "activation_storages[tied]", "public_activations[views]"]
says: Several tensor objects look at one storage, tell storages apart.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {id(t): t.untyped_storage().nbytes() for t in saved if t.untyped_storage()._cdata not in own}
    return sum(sizes.values())
