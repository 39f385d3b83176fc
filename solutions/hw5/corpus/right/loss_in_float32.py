"""Logits are turned into single precision for the loss, as large models do."""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for number, start in enumerate(range(0, len(x), micro)):
        logits = model(x[start : start + micro]).float()
        labels = y[start : start + micro]
        loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=PAD, reduction="sum")
        loss = loss.double() / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {number}")
        loss.backward()
        total += loss.item()
    return total
