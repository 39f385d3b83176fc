"""The checkpoint is overwritten in place, and synced.

fails: [killed_while_saving, full_disk]
"""


def _write(path, contents):
    with open(path, "wb") as file:
        torch.save(contents, file)
        file.flush()
        os.fsync(file.fileno())
