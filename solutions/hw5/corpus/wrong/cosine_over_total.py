"""The cosine is measured over the whole run, warm-up included.

fails: ["schedule[default]", "schedule[long]"]
also: [schedule, public_schedule, advance_values]
"""


def learning_rate(step, plan):
    if step < plan.warmup:
        return plan.peak * (step + 1) / plan.warmup
    f = (step + 1) / plan.total
    return plan.floor + (plan.peak - plan.floor) * (1 + math.cos(math.pi * f)) / 2
