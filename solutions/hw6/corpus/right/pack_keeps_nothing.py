"""The pack hook hands autograd a number instead of the tensor; backward never runs."""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = [t.untyped_storage() for t in (*twin.parameters(), *twin.buffers())]
    found = []

    def pack(tensor):
        storage = tensor.untyped_storage()
        if all(storage._cdata != other._cdata for other in own + found):
            found.append(storage)
        return len(found)

    def unpack(number):
        raise RuntimeError("measured, not trained")

    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(pack, unpack):
        twin(*inputs)
    return sum(map(len, found))
