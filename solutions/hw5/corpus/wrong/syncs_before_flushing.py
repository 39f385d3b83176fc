"""The descriptor is synced while Python still holds the last block back.

fails: [synced_before_rename]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb", buffering=1 << 24) as file:
            torch.save(contents, file)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
