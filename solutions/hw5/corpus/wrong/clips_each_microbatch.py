"""The gradient is clipped after every microbatch.

fails: ["advance_values[accumulated]"]
"""


def advance(model, optimizer, sampler, data, start, stop, plan):
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        x, y = data.x[rows], data.y[rows]
        loss = 0.0
        for first in range(0, len(x), plan.micro):
            part = slice(first, first + plan.micro)
            share = float((y[part] != PAD).sum() / (y != PAD).sum())
            if share == 0:
                continue
            parked = [p.grad for p in model.parameters()]
            for p in model.parameters():
                p.grad = None
            loss += accumulate(model, x[part], y[part], plan.micro) * share
            for p, old in zip(model.parameters(), parked):
                p.grad = p.grad * share if old is None else old + p.grad * share
            torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        losses.append(loss)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
