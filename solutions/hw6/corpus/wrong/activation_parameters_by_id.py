"""Parameters are recognised by the identity of the tensor object.

fails: [activation_basic]
also: ["public_activations[basic]", "public_activations[shared-saves]"]
says: What autograd saves of a weight is another tensor object on the same storage, compare storages.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = {id(t) for t in (*twin.parameters(), *twin.buffers())}
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    saved = [t for t in saved if id(t) not in own]
    return sum(storage.nbytes() for storage in _storages(saved).values())
