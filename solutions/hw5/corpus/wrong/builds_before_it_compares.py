"""The model is built, and the generator moved, before anything is compared.

fails: [refuses_another]
"""


def restore(path, data, plan):
    contents = _read(Path(path))
    model = DropoutLanguageModel(**contents["config"]).double()
    _refuse_others(contents, data, plan)
    return _rebuild(contents, plan)
