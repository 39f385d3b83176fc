"""The temporary file lies in the system's folder for such files.

fails: [synced_before_rename]
says: "A rename from another file system is no rename: put the temporary file beside the checkpoint."
"""


def _write(path, contents):
    temporary = Path(tempfile.gettempdir()) / (path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
