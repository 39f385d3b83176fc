"""The file is synced when it already has its name.

fails: [synced_before_rename]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
        os.replace(temporary, path)
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
