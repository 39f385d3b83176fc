"""A microbatch without target contributes zero times the sum of its logits."""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    losses = []
    for number, (xs, ys) in enumerate(zip(x.split(micro), y.split(micro))):
        logits, kept = model(xs), ys.ne(PAD)
        if kept.any():
            loss = F.cross_entropy(logits[kept], ys[kept]) * kept.sum() / targets
        else:
            loss = logits.sum() * 0
        if not bool(torch.isfinite(loss)):
            raise FloatingPointError(f"microbatch {number}")
        loss.backward()
        losses.append(loss.detach())
    return torch.stack(losses).sum().item()
