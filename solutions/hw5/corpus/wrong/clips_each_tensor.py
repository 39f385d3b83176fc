"""The norm of each tensor is clipped by itself.

fails: ["advance_values[accumulated]"]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        for parameter in model.parameters():
            torch.nn.utils.clip_grad_norm_(parameter, plan.clip, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
