"""Every element is clipped by itself instead of the norm of the whole gradient.

fails: ["advance_values[accumulated]", nonfinite_norm]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        torch.nn.utils.clip_grad_value_(model.parameters(), plan.clip)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
