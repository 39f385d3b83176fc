"""The default dtype is changed before the file is looked at.

fails: [refuses_another, refuses_what_is_no_checkpoint]
"""


def restore(path, data, plan):
    torch.set_default_dtype(torch.float64)
    contents = _read(Path(path))
    _refuse_others(contents, data, plan)
    return _rebuild(contents, plan)
