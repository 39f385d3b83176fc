"""What can be loaded is taken for a checkpoint.

fails: ["refuses_what_is_no_checkpoint[foreign]"]
"""


def _read(path):
    content = path.read_bytes()
    try:
        return torch.load(io.BytesIO(content), weights_only=True)
    except Exception as error:
        raise ValueError(f"{path} is no complete checkpoint: {error}") from error
