"""fdatasync is imported under another name."""

from os import fdatasync as to_disk


def _write(path, contents):
    made = io.BytesIO()
    torch.save(contents, made)
    temporary = path.with_suffix(".partial")
    try:
        with temporary.open("wb") as file:
            file.write(made.getvalue())
            file.flush()
            to_disk(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
