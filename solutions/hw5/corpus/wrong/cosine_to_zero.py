"""The cosine runs to zero and the floor is only a lower bound.

fails: [schedule, "public_schedule[half-way]"]
also: [public_schedule, advance_values]
"""


def learning_rate(step, plan):
    if step < plan.warmup:
        return plan.peak * (step + 1) / plan.warmup
    f = (step - plan.warmup + 1) / (plan.total - plan.warmup)
    return max(plan.floor, plan.peak * (1 + math.cos(math.pi * f)) / 2)
