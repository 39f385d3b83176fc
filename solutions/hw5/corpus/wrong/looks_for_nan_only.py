"""An infinite loss goes through backward.

fails: ["nonfinite_loss[infinite]", "nonfinite_loss[first]"]
"""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        loss = (
            F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD, reduction="sum")
            / targets
        )
        if torch.isnan(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
