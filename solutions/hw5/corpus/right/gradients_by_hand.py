"""torch.autograd.grad gives the gradients, which are added to .grad by hand."""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    parameters = list(model.parameters())
    total = 0.0
    for start in range(0, len(x), micro):
        rows = slice(start, start + micro)
        loss = F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD, reduction="sum")
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss of rows {start} to {start + micro - 1} is not finite")
        for p, g in zip(parameters, torch.autograd.grad(loss / targets, parameters)):
            p.grad = g.clone() if p.grad is None else p.grad + g
        total += loss.item() / targets
    return total
