"""The rate falls in a straight line, which meets the cosine in the middle and at the end.

fails: [schedule]
also: [public_schedule, advance_values]
"""


def learning_rate(step, plan):
    if step < plan.warmup:
        return plan.peak * (step + 1) / plan.warmup
    f = (step - plan.warmup + 1) / (plan.total - plan.warmup)
    return plan.peak + (plan.floor - plan.peak) * f
