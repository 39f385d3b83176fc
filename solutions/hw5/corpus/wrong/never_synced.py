"""The temporary file is renamed without being synced.

fails: [synced_before_rename]
says: "The rename can reach the disk before the data: sync the temporary file first."
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
