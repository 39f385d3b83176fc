"""torch's version is read once, at import; everything that restore needs is checked by one function."""

TORCH = torch.__version__


def _contents(model, optimizer, sampler, completed, data, plan, *, of=_contents):
    return of(model, optimizer, sampler, completed, data, plan) | {"torch": str(TORCH)}


def _refuse_others(contents, data, plan):
    wanted = {**asdict(plan), "torch": str(TORCH), "vocabulary": tuple(data.vocab), "data": data.fingerprint}
    found = {**contents["plan"], "torch": contents["torch"], "vocabulary": tuple(contents["vocab"])}
    found["data"] = contents["fingerprint"]
    for name in wanted:
        if wanted[name] != found[name]:
            raise ValueError(f"{name}: expected {str(wanted[name])[:70]}, the file has {str(found[name])[:70]}")
