"""Every saved tensor is added up, so that views of one storage count several times.

fails: ["activation_storages[shared-saves]", "activation_storages[views]", "activation_storages[in-place]"]
also: ["activation_attention[manual]", "activation_keeps_identity[tied]", "activation_leaves[requires_grad]", "activation_modules[convolution]", "activation_modules[dict-output]", "activation_modules[frozen]", "activation_modules[nested]", "activation_modules[no-grad]", "activation_modules[tuple-output]", "activation_one_forward[nested]", "activation_storages[expanded]", "activation_storages[input-is-a-view]", "activation_storages[small-part-of-large]", "activation_storages[tied]", activation_torchvision, "public_activations[shared-saves]", "public_activations[views]"]
says: The same storage is added once per operation that saved it, count each storage once.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(t.numel() * t.element_size() for t in saved if t.untyped_storage()._cdata not in own)
