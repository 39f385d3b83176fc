"""The losses are computed and judged as the contract says, and there is never a backward pass."""


def learning_rate(*arguments):
    raise NotImplementedError("hw5: learning_rate is not written yet")


def advance(*arguments):
    raise NotImplementedError("hw5: advance is not written yet")


def save(*arguments):
    raise NotImplementedError("hw5: save is not written yet")


def restore(*arguments):
    raise NotImplementedError("hw5: restore is not written yet")


def packing(*arguments):
    raise NotImplementedError("hw5: packing is not written yet")


def accumulate(model, x, y, micro):
    targets, total = int((y != PAD).sum()), 0.0
    if targets == 0:
        raise ValueError("no target")
    for number, (inputs, wanted) in enumerate(zip(x.split(micro), y.split(micro))):
        logits = model(inputs).flatten(0, 1)
        loss = F.cross_entropy(logits, wanted.flatten(), ignore_index=PAD, reduction="sum") / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(f"microbatch {number} has the loss {loss.item()}")
        total += loss.item()
    return total
