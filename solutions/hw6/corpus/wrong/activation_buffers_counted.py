"""Only parameters are left out, buffers are counted.

fails: ["activation_storages[buffers]"]
also: ["activation_keeps_identity[batch-norm]", "activation_leaves[buffers]", "activation_leaves[grad-mode]", "activation_modules[batch-norm]", "activation_modules[convolution]", "activation_modules[evaluation]", "activation_one_forward[batch-norm]", "activation_torchvision[mobilenet_v3_small]", "activation_torchvision[resnet10]"]
says: Buffers belong to the module and are there without a forward pass, leave them out too.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages(twin.parameters())
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
