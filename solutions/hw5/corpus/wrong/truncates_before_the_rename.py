"""The old checkpoint is emptied to make room.

fails: [killed_while_saving, full_disk]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        if path.exists():
            os.truncate(path, 0)
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
