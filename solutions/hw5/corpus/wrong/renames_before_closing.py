"""The file gets its name when only a part of it is written, and the rest follows.

fails: [killed_while_saving, synced_before_rename]
also: [full_disk]
"""


def _write(path, contents):
    made = io.BytesIO()
    torch.save(contents, made)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            os.replace(temporary, path)
            file.write(made.getvalue())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
