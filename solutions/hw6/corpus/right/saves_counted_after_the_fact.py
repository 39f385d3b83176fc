"""Notes storages with sizes while packing, sorts and merges them afterwards."""


def activation_bytes(module, *inputs):
    twin, log, hold = copy.deepcopy(module), [], []

    def pack(tensor):
        hold.append(tensor)
        log.append((tensor.untyped_storage()._cdata, tensor.untyped_storage().nbytes()))
        return tensor.detach()

    mine = [t.untyped_storage() for t in twin.parameters()] + [t.untyped_storage() for t in twin.buffers()]
    with torch.random.fork_rng(devices=()):
        with saved_tensors_hooks(pack, lambda t: t):
            twin(*inputs)
    total, last = 0, None
    for key, size in sorted(log):
        if key != last and not any(key == s._cdata for s in mine):
            total += size
        last = key
    return total
