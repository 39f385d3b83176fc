"""The sum runs over padding too; only the count leaves it out.

fails: ["accumulate_values[ragged]", "accumulate_values[gaps]", "accumulate_values[empty-microbatch]", public_uniform_model]
also: [accumulate_values, accumulate_adds, advance_values, nonfinite_loss]
"""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        loss = F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), reduction="sum") / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
