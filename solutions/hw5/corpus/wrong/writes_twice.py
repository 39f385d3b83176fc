"""The checkpoint is written to a temporary file for trial, then in place.

fails: [killed_while_saving]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
        os.unlink(temporary)
        torch.save(contents, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
