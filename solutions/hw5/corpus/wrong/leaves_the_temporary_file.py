"""A failed save leaves its temporary file.

fails: [full_disk]
"""


def _write(path, contents):
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        torch.save(contents, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
