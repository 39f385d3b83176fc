"""The file is opened with O_SYNC, so that every write waits for the disk."""


def _write(path, contents):
    made = io.BytesIO()
    torch.save(contents, made)
    temporary = os.path.join(os.path.dirname(os.path.abspath(path)), f".{os.path.basename(path)}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_SYNC, 0o600)
    try:
        left = made.getbuffer()
        while left:
            left = left[os.write(descriptor, left) :]
        os.close(descriptor)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
