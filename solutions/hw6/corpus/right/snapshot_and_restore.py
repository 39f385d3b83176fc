"""No copy: runs the module itself and puts buffers and generator back, whatever happens."""


def activation_bytes(module, *inputs):
    own = _storages([*module.parameters(), *module.buffers()])
    buffers = [(m, name, b, b.clone()) for m in module.modules() for name, b in m._buffers.items() if b is not None]
    generator = torch.get_rng_state()
    saved = []
    try:
        with saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
            module(*inputs)
    finally:
        torch.set_rng_state(generator)
        with torch.no_grad():
            for owner, name, buffer, values in buffers:
                buffer.copy_(values)
                owner._buffers[name] = buffer
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
