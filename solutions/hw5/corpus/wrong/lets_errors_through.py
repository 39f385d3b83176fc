"""Errors of torch.load reach the caller.

fails: [refuses_what_is_no_checkpoint, "public_refusals[cut]"]
"""


def _read(path):
    contents = torch.load(path, weights_only=True)
    if not isinstance(contents, dict) or not contents.keys() >= _KEYS:
        raise ValueError(f"{path} is no checkpoint of this course")
    return contents
