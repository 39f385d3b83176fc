"""The name of the temporary file comes from torch's generator.

fails: [save_is_silent]
"""


def _write(path, contents):
    temporary = path.with_name(f"{path.name}.{int(torch.randint(1 << 30, ()))}")
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
