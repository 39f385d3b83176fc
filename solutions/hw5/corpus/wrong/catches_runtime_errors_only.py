"""Only the RuntimeError of a cut archive becomes a ValueError.

fails: [refuses_what_is_no_checkpoint]
"""


def _read(path):
    content = path.read_bytes()
    try:
        contents = torch.load(io.BytesIO(content), weights_only=True)
        complete = contents.keys() >= _KEYS
    except RuntimeError as error:
        raise ValueError(f"{path} is no complete checkpoint: {error}") from error
    if not complete:
        raise ValueError(f"{path} is no checkpoint of this course")
    return contents
