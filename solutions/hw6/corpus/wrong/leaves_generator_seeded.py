"""Seeds the random generator, so that measurements repeat.

fails: ["activation_leaves[generator]"]
also: [public_leaves]
says: Seeding changes every later random number, put the generator's state back.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    torch.manual_seed(0)
    with saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
