"""The loss of a step is divided by the number of microbatches once more.

fails: ["advance_values[accumulated]"]
also: [public_advance]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        losses[-1] /= math.ceil(plan.batch / plan.micro)
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
