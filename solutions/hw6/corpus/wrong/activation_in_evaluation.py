"""The module is measured in evaluation mode.

fails: ["activation_modules[dropout]"]
also: [activation_grid, "activation_keeps_identity[batch-norm]", "activation_leaves[buffers]", "activation_leaves[generator]", "activation_leaves[hooks]", "activation_leaves[modes]", "activation_modules[batch-norm]", "activation_modules[convolution]", "activation_modules[hooks]", "activation_modules[mixed-modes]", "activation_one_forward[batch-norm]", activation_torchvision]
says: Dropout saves a mask in training mode only, measure in the mode the module is in.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module).eval()
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
