"""The generator is restored before anything is compared.

fails: [refuses_another]
"""


def restore(path, data, plan):
    contents = _read(Path(path))
    torch.set_rng_state(contents["rng"])
    _refuse_others(contents, data, plan)
    return _rebuild(contents, plan)
