"""The temporary file lies in a folder of its own inside the checkpoint's folder."""


def _write(path, contents):
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".saving-") as folder:
        made = os.path.join(folder, "checkpoint")
        with open(made, "xb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, path)
