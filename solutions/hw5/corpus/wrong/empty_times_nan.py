"""A microbatch's mean is scaled back by its number of targets, which is 0 times NaN when there are none.

fails: ["accumulate_values[ragged]", "accumulate_values[empty-microbatch]", public_uniform_model]
also: [accumulate_values, accumulate_adds, advance_values, nonfinite_loss, no_target]
says: "The mean over no targets is NaN, and NaN times zero is NaN: a microbatch of padding only must contribute zero."
"""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        loss = (
            F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD)
            * (y[rows] != PAD).sum()
            / targets
        )
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
