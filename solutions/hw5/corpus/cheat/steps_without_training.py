"""Losses are computed and numbers are drawn as they should be, and the optimizer never steps.

earns: [public_uniform_model, accumulate_values, accumulate_adds, no_target, nonfinite_loss]
"""


def learning_rate(*arguments):
    return 0.0


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for _ in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        optimizer.zero_grad(set_to_none=True)
    return losses


def save(*arguments):
    raise NotImplementedError("hw5: save is not written yet")


def restore(*arguments):
    raise NotImplementedError("hw5: restore is not written yet")


def packing(*arguments):
    raise NotImplementedError("hw5: packing is not written yet")
