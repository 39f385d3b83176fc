"""Empty results of the right shape are returned everywhere."""


def learning_rate(step, plan):
    return 0.0


def accumulate(model, x, y, micro):
    return 0.0


def advance(model, optimizer, sampler, data, start, stop, plan):
    return [0.0] * (stop - start)


def save(path, *arguments):
    Path(path).write_bytes(b"")


def restore(path, data, plan):
    from course_lib import fresh

    return *fresh(data, plan, 0), 0


def packing(segments):
    n = len(segments) - 1
    return torch.ones(n, n, dtype=torch.bool), torch.ones(n, dtype=torch.bool), torch.zeros(n, dtype=torch.int64)
