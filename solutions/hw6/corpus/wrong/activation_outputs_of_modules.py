"""Adds up the outputs of the leaf modules instead of watching what autograd saves.

fails: [activation_basic]
also: [public_activations]
says: The output of a layer is not what it saves, watch saved_tensors_hooks.
"""


def activation_bytes(module, *inputs):
    twin, sizes = copy.deepcopy(module), []
    for part in twin.modules():
        if not list(part.children()):
            part.register_forward_hook(lambda m, i, o: sizes.append(o.nbytes if torch.is_tensor(o) else 0))
    with torch.random.fork_rng(devices=[]):
        twin(*inputs)
    return sum(sizes)
