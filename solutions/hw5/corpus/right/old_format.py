"""The file is written in torch's old format, and read back before it gets its name."""


def _write(path, contents):
    temporary = path.with_name("~" + path.name)
    try:
        with open(temporary, "w+b") as file:
            torch.save(contents, file, _use_new_zipfile_serialization=False)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            torch.load(file, weights_only=True)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
