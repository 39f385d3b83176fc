"""Each microbatch draws its own rows.

fails: ["advance_draws[ragged]"]
also: [advance_values, public_advance, public_resume]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (math.ceil(plan.batch / plan.micro) * plan.micro,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
