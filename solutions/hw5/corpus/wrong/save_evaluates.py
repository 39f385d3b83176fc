"""The model is put into evaluation mode for saving, and stays there.

fails: [save_is_silent]
"""


def save(path, model, optimizer, sampler, completed, data, plan):
    model.eval()
    _write(Path(path), _contents(model, optimizer, sampler, completed, data, plan))
