"""The previous checkpoint is kept under a second name."""


def _write(path, contents):
    backup, temporary = Path(f"{path}.bak"), Path(f"{path}.tmp")
    try:
        with open(temporary, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file)
        if path.exists():
            backup.unlink(missing_ok=True)
            os.link(path, backup)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
