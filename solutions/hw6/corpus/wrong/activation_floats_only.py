"""Only floating-point tensors are counted, neither indices nor masks.

fails: ["activation_storages[tied]", "activation_storages[masks]"]
also: ["activation_attention[manual]", "activation_keeps_identity[tied]", "activation_modules[convolution]", "activation_modules[dict-output]", "activation_torchvision[resnet10]", "activation_torchvision[squeezenet1_1]"]
says: Indices, targets and masks are saved for the backward pass too.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    saved = [t for t in saved if t.is_floating_point()]
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
