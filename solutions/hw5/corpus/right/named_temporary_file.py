"""A NamedTemporaryFile in the same folder, and the folder is synced as well."""


def _write(path, contents):
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
            file.close()
            Path(file.name).rename(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
