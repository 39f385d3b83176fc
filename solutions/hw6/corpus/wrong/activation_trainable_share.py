"""Activations are scaled by the share of trainable parameters, as if adapters saved activations.

fails: ["activation_modules[frozen]", "activation_modules[adapters]"]
also: ["activation_leaves[requires_grad]"]
says: Activations do not shrink with the share of trainable parameters, count what is saved.
"""


def activation_bytes(module, *inputs):
    twin = copy.deepcopy(module)
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    share = sum(p.numel() for p in twin.parameters() if p.requires_grad) / max(
        1, sum(p.numel() for p in twin.parameters())
    )
    return int(share * sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own))
