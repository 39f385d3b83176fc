"""Only an OSError removes the temporary file; torch's writer raises another error.

fails: [full_disk]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except FileExistsError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
