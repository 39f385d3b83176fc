"""The last row is never drawn.

fails: [advance_values]
also: [resume_is_exact, killed_while_saving, full_disk, synced_before_rename, advance_draws]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x) - 1, (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
