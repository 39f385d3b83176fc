"""The optimizer goes into a second file beside the checkpoint.

fails: [resume_is_exact, public_resume]
also: [save_is_silent, loads_safely, refuses_another, refuses_what_is_no_checkpoint, public_refusals]
"""


def save(path, model, optimizer, sampler, completed, data, plan):
    contents = _contents(model, optimizer, sampler, completed, data, plan)
    _write(Path(f"{path}.optimizer"), contents.pop("optimizer"))
    _write(Path(path), contents)


_KEYS = _KEYS - {"optimizer"}


def restore(path, data, plan):
    contents = _read(Path(path))
    _refuse_others(contents, data, plan)
    contents["optimizer"] = torch.load(f"{path}.optimizer", weights_only=True)
    return _rebuild(contents, plan)
