"""All file systems are synced instead of one file."""


def _write(path, contents):
    temporary = path.parent / f"{path.name}.part"
    try:
        torch.save(contents, temporary)
        os.sync()
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
