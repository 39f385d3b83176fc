"""Each storage counts once, with the logical size of the tensor that looked at it last.

fails: ["activation_storages[expanded]", "activation_storages[small-part-of-large]"]
also: ["activation_attention[fused]", activation_grid, "activation_storages[input-is-a-view]", "activation_storages[views]", "public_activations[views]"]
says: An expanded tensor or a slice has another size than its storage, ask the storage.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {t.untyped_storage()._cdata: t.nbytes for t in saved if t.untyped_storage()._cdata not in own}
    return sum(sizes.values())
