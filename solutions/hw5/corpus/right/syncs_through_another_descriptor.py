"""torch writes to the path itself; another descriptor of the file is synced afterwards."""


def _write(path, contents):
    temporary = f"{path}.new"
    try:
        torch.save(contents, temporary)
        descriptor = os.open(temporary, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise
