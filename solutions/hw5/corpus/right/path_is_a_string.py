"""The path is taken for a string throughout, and the file is pickled by torch without a context manager."""


def save(path, model, optimizer, sampler, completed, data, plan):
    temporary = path + "~"
    file = open(temporary, "wb")
    try:
        torch.save(_contents(model, optimizer, sampler, completed, data, plan), file)
        file.flush()
        os.fsync(file.fileno())
        file.close()
        os.rename(temporary, path)
    except BaseException:
        try:
            file.close()
        except OSError:
            pass
        os.remove(temporary)
        raise


def restore(path, data, plan):
    if not os.path.isfile(path):
        raise FileNotFoundError(path)
    contents = _read(Path(os.path.join(os.getcwd(), path)))
    _refuse_others(contents, data, plan)
    return _rebuild(contents, plan)
