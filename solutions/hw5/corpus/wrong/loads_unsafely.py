"""The file is harmless, but restore would run the code of any other.

fails: [loads_safely, "refuses_what_is_no_checkpoint[foreign]"]
"""


def _read(path):
    content = path.read_bytes()
    try:
        contents = torch.load(io.BytesIO(content), weights_only=False)
        complete = contents.keys() >= _KEYS
    except Exception as error:
        raise ValueError(f"{path} is no complete checkpoint: {error}") from error
    if not complete:
        raise ValueError(f"{path} is no checkpoint of this course")
    return contents
