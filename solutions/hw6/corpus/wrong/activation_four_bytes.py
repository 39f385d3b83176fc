"""Every element is taken to be four bytes long.

fails: ["activation_storages[precisions]", "activation_storages[masks]"]
also: ["activation_attention[manual]", "activation_keeps_identity[tied]", "activation_modules[autocast]", "activation_modules[convolution]", "activation_modules[dict-output]", "activation_storages[tied]", "activation_torchvision[resnet10]", "activation_torchvision[squeezenet1_1]"]
says: Elements of other dtypes than float32 have other sizes, ask the storage.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {t.untyped_storage()._cdata: 4 * (t.untyped_storage().nbytes() // t.element_size()) for t in saved}
    return sum(size for key, size in sizes.items() if key not in own)
