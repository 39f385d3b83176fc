"""Microbatches take every k-th row instead of neighbouring rows.

fails: ["nonfinite_loss[nan]", "nonfinite_loss[infinite]"]
"""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for index, start in enumerate(range(math.ceil(len(x) / micro))):
        rows = slice(start, None, math.ceil(len(x) / micro))
        loss = (
            F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD, reduction="sum")
            / targets
        )
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
