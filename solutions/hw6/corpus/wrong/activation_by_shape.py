"""Saved tensors of the same shape and dtype count once.

fails: ["activation_storages[equal-values]"]
also: [activation_attention, activation_basic, activation_grid, "activation_keeps_identity[batch-norm]", "activation_keeps_identity[tied]", activation_leaves, "activation_modules[adapters]", "activation_modules[batch-norm]", "activation_modules[checkpointed]", "activation_modules[convolution]", "activation_modules[dropout]", "activation_modules[evaluation]", "activation_modules[frozen]", "activation_modules[hooks]", "activation_modules[mixed-modes]", "activation_modules[nested]", "activation_modules[no-grad]", "activation_modules[tuple-output]", "activation_one_forward[batch-norm]", "activation_one_forward[nested]", "activation_storages[buffers]", "activation_storages[computed-weight]", "activation_storages[expanded]", "activation_storages[in-place]", "activation_storages[inputs]", "activation_storages[own-function]", "activation_storages[shared-saves]", "activation_storages[tied]", "activation_storages[transposed-parameter]", "activation_storages[views]", activation_torchvision, "public_activations[basic]", "public_activations[checkpointed]", "public_activations[shared-saves]", "public_activations[views]"]
says: Two tensors of one shape are two allocations, tell storages apart.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    sizes = {(t.shape, t.dtype): t.untyped_storage().nbytes() for t in saved if t.untyped_storage()._cdata not in own}
    return sum(sizes.values())
