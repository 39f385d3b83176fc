"""A microbatch without target is not computed at all."""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for first in range(0, x.shape[0], micro):
        xs, ys = x[first : first + micro], y[first : first + micro]
        if (ys == PAD).all():
            continue
        log_p = torch.log_softmax(model(xs), dim=-1)
        loss = -log_p.gather(-1, ys.unsqueeze(-1)).squeeze(-1)[ys != PAD].sum() / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(
                f"microbatch {first // micro} of {math.ceil(len(x) / micro)} has the loss {loss:g}"
            )
        loss.backward()
        total += float(loss)
    return total
