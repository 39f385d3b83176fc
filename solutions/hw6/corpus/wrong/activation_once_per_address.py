"""Saved tensors are told apart by data_ptr of the tensor, so that slices of one storage count several times.

fails: ["activation_storages[views]"]
also: ["activation_attention[fused]", activation_grid, "activation_storages[small-part-of-large]", "public_activations[views]"]
says: Slices of one storage begin at different addresses, tell storages apart instead.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {t.data_ptr(): t.untyped_storage().nbytes() for t in saved if t.untyped_storage()._cdata not in own}
    return sum(sizes.values())
