"""The finished temporary file is copied onto the checkpoint.

fails: [killed_while_saving]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
        path.write_bytes(temporary.read_bytes())
        os.unlink(temporary)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
