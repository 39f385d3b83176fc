"""A gradient below the limit is scaled up to it.

fails: ["advance_values[dropout]"]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"), error_if_nonfinite=True)
        for parameter in model.parameters():
            parameter.grad *= plan.clip / norm
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
