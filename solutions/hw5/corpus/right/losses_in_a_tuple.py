"""Steps are made by a generator, and their losses come back as a tuple."""


def advance(model, optimizer, sampler, data, start, stop, plan):
    def steps():
        for step in range(start, stop):
            rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
            optimizer.zero_grad(set_to_none=True)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(step, plan)
            loss = accumulate(model, data.x[rows], data.y[rows], plan.micro)
            torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            yield loss

    return tuple(steps())
