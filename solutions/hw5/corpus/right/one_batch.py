"""All rows go through one forward and one backward pass; microbatches are only looked at."""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    logits = model(x)
    terms = F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=PAD, reduction="none").view(y.shape)
    for number, part in enumerate(terms.split(micro)):
        if not torch.isfinite(part.sum()):
            raise FloatingPointError(f"microbatch {number} has the loss {part.sum().item()}")
    loss = terms.sum() / targets
    loss.backward()
    return loss.item()
