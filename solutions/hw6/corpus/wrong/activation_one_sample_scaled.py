"""Measures one sample and multiplies by the batch.

fails: [activation_basic]
also: [public_activations, "public_leaves[batch-norm]"]
says: Not everything grows with the batch, run the inputs that were given.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved, batch = [], len(inputs[0])
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*(value[:1] for value in inputs))
    return batch * sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
