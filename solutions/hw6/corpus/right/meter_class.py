"""A class that is the context manager, built on saved_tensors_hooks by inheritance."""


class Meter(saved_tensors_hooks):
    def __init__(self, ignored):
        super().__init__(self.pack, lambda tensor: tensor)
        self.ignored, self.seen, self.total = {s._cdata: s for s in ignored}, {}, 0

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in self.ignored and storage._cdata not in self.seen:
            self.seen[storage._cdata] = tensor
            self.total += storage.nbytes()
        return tensor


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    meter = Meter([t.untyped_storage() for t in (*twin.parameters(), *twin.buffers())])
    with torch.random.fork_rng(devices=[], enabled=True), meter:
        twin(*inputs)
    return int(meter.total)
