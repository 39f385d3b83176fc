"""The cosine is written with the square of the half angle, the warm-up as a minimum."""


def learning_rate(step, plan):
    done = step + 1
    if done <= plan.warmup:
        return plan.peak * done / plan.warmup
    quarter = math.pi / 2 * (done - plan.warmup) / (plan.total - plan.warmup)
    return plan.peak * math.cos(quarter) ** 2 + plan.floor * math.sin(quarter) ** 2
