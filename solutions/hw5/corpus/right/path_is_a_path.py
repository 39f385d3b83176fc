"""The path is taken for a `Path` throughout, and torch writes and reads by name."""


def save(path, model, optimizer, sampler, completed, data, plan):
    temporary = path.with_suffix(".writing")
    try:
        torch.save(_contents(model, optimizer, sampler, completed, data, plan), temporary)
        with temporary.open("r+b") as file:
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def restore(path, data, plan):
    contents = _read(path)
    _refuse_others(contents, data, plan)
    return _rebuild(contents, plan)
