"""Losses fall on paper; nothing is trained.

earns: [schedule, public_schedule, accumulate_values, accumulate_adds, no_target, nonfinite_loss, public_uniform_model, loads_safely, refuses_another, refuses_what_is_no_checkpoint, public_refusals, packing, public_packing]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    for step in range(start, stop):
        torch.randint(len(data.x), (plan.batch,), generator=sampler)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
    return [math.log(len(data.vocab)) * 0.98**step for step in range(start, stop)]
