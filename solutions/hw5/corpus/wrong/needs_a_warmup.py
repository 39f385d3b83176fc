"""A plan without warm-up divides by zero.

fails: ["schedule[no-warmup]"]
"""


def learning_rate(step, plan):
    warm = min(1.0, (step + 1) / plan.warmup)
    f = max(0.0, (step - plan.warmup + 1) / (plan.total - plan.warmup))
    return warm * (plan.floor + (plan.peak - plan.floor) * (1 + math.cos(math.pi * f)) / 2)
