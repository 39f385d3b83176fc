"""The file that is about to be replaced is synced.

fails: [synced_before_rename]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
        if path.exists():
            with open(path, "rb") as old:
                os.fsync(old.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
