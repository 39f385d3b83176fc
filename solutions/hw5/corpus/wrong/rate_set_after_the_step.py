"""The rate is set after the step, for the next one.

fails: [advance_values]
also: [advance_is_clean]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        optimizer.zero_grad(set_to_none=True)
    return losses
