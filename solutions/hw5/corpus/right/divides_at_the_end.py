"""Gradients of sums are collected beside the old ones, and divided when the batch is over."""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    parameters = [p for p in model.parameters() if p.requires_grad]
    old = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    total = 0.0
    for number, (xs, ys) in enumerate(zip(x.split(micro), y.split(micro)), 1):
        loss = F.cross_entropy(model(xs).transpose(1, 2), ys, ignore_index=PAD, reduction="sum")
        if not math.isfinite(loss.item()):
            raise FloatingPointError(f"loss of microbatch no. {number}: {loss.item()}")
        loss.backward()
        total += loss.item()
    for p, before in zip(parameters, old):
        p.grad = p.grad / targets if before is None else before + p.grad / targets
    return total / targets
