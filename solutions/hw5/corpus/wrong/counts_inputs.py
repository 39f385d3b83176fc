"""Words are counted in x instead of targets in y.

fails: ["accumulate_values[gaps]"]
also: [no_target, nonfinite_loss]
says: The number divided by is that of the inputs that are words; what counts is the targets that are not PAD.
"""


def accumulate(model, x, y, micro):
    targets = int((x != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
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
