"""A batch without targets silently has the loss 0.

fails: [no_target]
"""


def accumulate(model, x, y, micro):
    targets = max(int((y != PAD).sum()), 1)
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        loss = (
            F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD, reduction="sum")
            / targets
        )
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
