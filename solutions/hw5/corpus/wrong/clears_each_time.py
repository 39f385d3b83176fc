"""Gradients are cleared before every microbatch.

fails: ["accumulate_values[ragged]", "accumulate_values[gaps]", "accumulate_values[empty-microbatch]", accumulate_adds, public_uniform_model]
also: [advance_values]
"""


def accumulate(model, x, y, micro):
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("no target")
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        loss = F.cross_entropy(model(x[rows]).flatten(0, 1), y[rows].flatten(), ignore_index=PAD, reduction="sum") / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {index}: the loss is {loss.item()}")
        model.zero_grad()
        loss.backward()
        total += loss.item()
    return total
