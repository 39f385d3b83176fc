"""The temporary file is flushed to the operating system, not to the disk.

fails: [synced_before_rename]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
