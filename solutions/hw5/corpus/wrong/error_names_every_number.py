"""The error counts up all microbatches instead of naming the one whose loss is not finite.

fails: [nonfinite_loss]
"""


def accumulate(model, x, y, micro):
    targets, total = int((y != PAD).sum()), 0.0
    if targets == 0:
        raise ValueError("no target")
    parts = list(zip(x.split(micro), y.split(micro)))
    for inputs, wanted in parts:
        logits = model(inputs).flatten(0, 1)
        loss = F.cross_entropy(logits, wanted.flatten(), ignore_index=PAD, reduction="sum") / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(f"not finite: one of {list(range(len(parts)))}")
        loss.backward()
        total += loss.item()
    return total
