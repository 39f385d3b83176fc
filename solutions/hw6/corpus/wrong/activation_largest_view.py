"""Each storage counts once, with the largest of the views that were saved.

fails: ["activation_storages[expanded]"]
also: ["activation_attention[fused]", activation_grid, "activation_storages[input-is-a-view]", "activation_storages[small-part-of-large]", "activation_storages[views]", "public_activations[views]"]
says: The largest view may repeat elements or leave some out, ask the storage for its size.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {}
    for t in saved:
        key = t.untyped_storage()._cdata
        if key not in own:
            sizes[key] = max(sizes.get(key, 0), t.nbytes)
    return sum(sizes.values())
