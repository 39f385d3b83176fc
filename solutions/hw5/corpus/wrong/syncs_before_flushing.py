"""The descriptor is synced while Python still holds the last block back.

fails: [synced_before_rename]
"""


def _write(path, contents):
    made = io.BytesIO()
    torch.save(contents, made)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb", buffering=1 << 24) as file:
            file.write(made.getvalue())
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
