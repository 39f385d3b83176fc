"""The checkpoint is overwritten in place.

fails: [killed_while_saving, full_disk, synced_before_rename]
says: "The checkpoint is overwritten in place: a process that is killed half-way leaves neither the old nor the new one."
"""


def _write(path, contents):
    torch.save(contents, path)
