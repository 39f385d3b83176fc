"""The plan travels as an object, and everything is unpickled.

fails: [loads_safely, "refuses_what_is_no_checkpoint[foreign]"]
says: "weights_only=False unpickles: whoever can write the file can run code in your process."
"""


def _contents(model, optimizer, sampler, completed, data, plan, *, of=_contents):
    return of(model, optimizer, sampler, completed, data, plan) | {"plan": plan}


def _read(path):
    content = path.read_bytes()
    try:
        contents = torch.load(io.BytesIO(content), weights_only=False)
        complete = contents.keys() >= _KEYS
    except Exception as error:
        raise ValueError(f"{path} is no complete checkpoint: {error}") from error
    if not complete:
        raise ValueError(f"{path} is no checkpoint of this course")
    return contents | {"plan": asdict(contents["plan"])}
