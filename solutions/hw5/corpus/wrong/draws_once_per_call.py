"""One batch is drawn per call instead of one per step.

fails: [advance_is_clean, public_advance]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
    for step in range(start, stop):
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
