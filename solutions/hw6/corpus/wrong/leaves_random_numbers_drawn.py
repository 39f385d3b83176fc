"""The random numbers of dropout stay drawn.

fails: ["activation_leaves[generator]"]
also: ["public_leaves[dropout]"]
says: The next draw differs from what it would have been, put the generator's state back.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
