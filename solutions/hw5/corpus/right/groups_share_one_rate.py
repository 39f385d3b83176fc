"""Rate, sampling and clearing come in another order; the rate is computed by a scheduler object."""


class _Schedule:
    def __init__(self, optimizer, plan):
        self.optimizer, self.plan = optimizer, plan

    def at(self, step):
        rate = learning_rate(step, self.plan)
        for group in self.optimizer.param_groups:
            group.update(lr=rate)


def advance(model, optimizer, sampler, data, start, stop, plan):
    schedule, losses = _Schedule(optimizer, plan), []
    for step in range(start, stop):
        schedule.at(step)
        optimizer.zero_grad()
        index = torch.randint(high=data.y.size(0), size=(plan.batch,), generator=sampler)
        losses.append(accumulate(model, data.x[index], data.y[index], plan.micro))
        gradients = [p.grad for p in model.parameters()]
        norm = torch.nn.utils.get_total_norm(gradients, error_if_nonfinite=True)
        torch.nn.utils.clip_grads_with_norm_(model.parameters(), plan.clip, norm)
        optimizer.step()
        optimizer.zero_grad()
    return losses
