"""Runs the module with cloned parameters and buffers in place of its own."""

from torch.func import functional_call


def activation_bytes(module, *inputs):
    stand_ins = {n: p.detach().clone().requires_grad_(p.requires_grad) for n, p in module.named_parameters()}
    stand_ins |= {n: b.clone() for n, b in module.named_buffers()}
    own, saved = _storages(stand_ins.values()), []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        functional_call(module, stand_ins, inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
