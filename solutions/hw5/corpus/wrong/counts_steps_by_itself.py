"""The number of completed steps is read from the optimizer, not from the argument.

fails: [loads_safely]
"""


def save(path, model, optimizer, sampler, completed, data, plan):
    counts = [int(state["step"]) for state in optimizer.state.values()]
    completed = max(counts, default=0)
    _write(Path(path), _contents(model, optimizer, sampler, completed, data, plan))
