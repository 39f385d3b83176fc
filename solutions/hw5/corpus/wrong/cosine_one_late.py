"""The cosine starts one step late, so that the last step is above the floor.

fails: [schedule, "public_schedule[last-step]"]
also: [public_schedule, advance_values]
says: "The last step is not at the floor: at step = warmup the cosine has already gone one step."
"""


def learning_rate(step, plan):
    if step < plan.warmup:
        return plan.peak * (step + 1) / plan.warmup
    f = (step - plan.warmup) / (plan.total - plan.warmup)
    return plan.floor + (plan.peak - plan.floor) * (1 + math.cos(math.pi * f)) / 2
