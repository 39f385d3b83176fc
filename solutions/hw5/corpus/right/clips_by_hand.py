"""The norm is computed and applied by hand, without an epsilon; gradients are set to None by hand."""


def advance(model, optimizer, sampler, data, start, stop, plan):
    model.train()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    losses = []
    for step in range(start, stop):
        for p in parameters:
            p.grad = None
        rows = torch.randint(0, len(data.x), size=(plan.batch,), generator=sampler)
        rate = learning_rate(step, plan)
        losses += [accumulate(model, data.x.index_select(0, rows), data.y.index_select(0, rows), plan.micro)]
        norm = math.sqrt(sum(float(p.grad.pow(2).sum()) for p in parameters))
        if not math.isfinite(norm):
            raise FloatingPointError(f"step {step}: the norm of the gradient is {norm}")
        if norm > plan.clip:
            for p in parameters:
                p.grad.mul_(plan.clip / norm)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        model.zero_grad()
    return losses
