"""The running model is rounded to what is written.

fails: [save_is_silent, resume_is_exact, public_resume]
also: [loads_safely, refuses_another, refuses_what_is_no_checkpoint]
"""


def save(path, model, optimizer, sampler, completed, data, plan):
    contents = _contents(model.float(), optimizer, sampler, completed, data, plan)
    model.double()
    _write(Path(path), contents)
