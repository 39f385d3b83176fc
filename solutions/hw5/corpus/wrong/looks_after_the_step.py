"""The norm is looked at when the step has been taken.

fails: [nonfinite_norm]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        optimizer.step()
        if not torch.isfinite(norm):
            raise FloatingPointError(f"the norm of the gradient is {norm}")
        optimizer.zero_grad(set_to_none=True)
    return losses
