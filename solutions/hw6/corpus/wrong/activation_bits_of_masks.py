"""Boolean masks are taken to be packed, one bit per element.

fails: ["activation_storages[masks]"]
also: ["activation_attention[manual]"]
says: torch keeps a whole byte per boolean.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {}
    for t in saved:
        size = t.untyped_storage().nbytes()
        sizes[t.untyped_storage()._cdata] = (size + 7) // 8 if t.dtype == torch.bool else size
    return sum(size for key, size in sizes.items() if key not in own)
