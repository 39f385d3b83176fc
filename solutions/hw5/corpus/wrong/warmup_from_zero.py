"""The warm-up starts at zero instead of at its first step.

fails: [schedule, "public_schedule[warm-up]"]
also: [public_schedule, advance_values, advance_is_clean]
"""


def learning_rate(step, plan):
    if step < plan.warmup:
        return plan.peak * step / plan.warmup
    f = (step - plan.warmup + 1) / (plan.total - plan.warmup)
    return plan.floor + (plan.peak - plan.floor) * (1 + math.cos(math.pi * f)) / 2
