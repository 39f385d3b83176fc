"""The plan is saved as the object it is, which is declared safe to load."""


def _contents(model, optimizer, sampler, completed, data, plan, *, of=_contents):
    return of(model, optimizer, sampler, completed, data, plan) | {"plan": plan}


def _read(path):
    content = path.read_bytes()
    try:
        with torch.serialization.safe_globals([Plan]):
            contents = torch.load(io.BytesIO(content), weights_only=True)
        return contents | {"plan": asdict(contents["plan"])}
    except Exception as error:
        raise ValueError(f"no checkpoint: {error}") from error
