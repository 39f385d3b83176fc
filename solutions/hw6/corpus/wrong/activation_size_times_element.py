"""The size of an untyped storage, which is in bytes, is multiplied by the element size.

fails: [activation_basic]
also: [public_activations]
says: An untyped storage counts bytes already.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {t.untyped_storage()._cdata: t.untyped_storage().size() * t.element_size() for t in saved}
    return sum(size for key, size in sizes.items() if key not in own)
