"""The mean loss of each microbatch is divided by the number of microbatches.

fails: ["accumulate_values[ragged]", "accumulate_values[gaps]", "accumulate_values[empty-microbatch]", public_uniform_model]
also: [accumulate_adds, advance_values, nonfinite_loss]
says: A mean of the microbatches' means gives every microbatch the same weight, however few targets it has.
"""


def accumulate(model, x, y, micro):
    if not (y != PAD).any():
        raise ValueError("no target")
    pieces = math.ceil(len(x) / micro)
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        if not (y[rows] != PAD).any():
            continue
        loss = F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD) / pieces
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
