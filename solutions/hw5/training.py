"""Token-weighted gradient accumulation, and checkpoints from which a run goes on as if it had never stopped.

Sources: Loshchilov & Hutter 2017, "SGDR" (arXiv 1608.03983) for the cosine schedule; Pascanu et al. 2013 (arXiv
1211.5063) for clipping by the norm; Pillai et al. 2014, "All File Systems Are Not Created Equal" (OSDI '14) for what a
file system keeps after a crash; Raffel et al. 2020 (arXiv 1910.10683) for packed sequences.
"""

import io
import math
import os
import reprlib
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from course_lib import PAD, Data, DropoutLanguageModel, Plan, make_optimizer


def learning_rate(step: int, plan: Plan) -> float:
    """The learning rate of `step` (0-based): a linear warm-up, then half a cosine down to the floor.

    step < warmup:  peak * (step + 1) / warmup, so that the last warm-up step is at the peak
    later:          from peak to floor along (1 + cos(pi * f)) / 2 with f = (step - warmup + 1) / (total - warmup), so
                    that the last step, total - 1, is exactly at the floor
    `plan.warmup` may be 0. Only steps below `plan.total` are asked for.
    """
    ### BEGIN SOLUTION
    if step < plan.warmup:
        return plan.peak * (step + 1) / plan.warmup
    f = (step - plan.warmup + 1) / (plan.total - plan.warmup)
    return plan.floor + (plan.peak - plan.floor) * (1 + math.cos(math.pi * f)) / 2
    ### END SOLUTION


def accumulate(model: DropoutLanguageModel, x: Tensor, y: Tensor, micro: int) -> float:
    """Add the gradient of the batch's mean loss per target to what is in `.grad`; return that loss as a Python float.

    x, y: (B, T) int64 token ids; `y[i, t]` is the target after `x[i, t]`, and a target that is PAD counts nowhere.
    micro: rows per forward and backward pass, taken in order; it need not divide B and may exceed it.

    Every microbatch is divided by the number of targets of the *whole* batch, so that each token weighs the same
    wherever the batch is cut. A microbatch of PAD only contributes zero. Gradients are added to, never cleared.
    Raises ValueError when the whole batch has no target, and FloatingPointError that names the microbatch when its loss
    is not finite, before that microbatch's backward pass.
    """
    ### BEGIN SOLUTION
    targets = int((y != PAD).sum())
    if targets == 0:
        raise ValueError("the batch has no target: all of y is PAD")
    total = 0.0
    for index, start in enumerate(range(0, len(x), micro)):
        rows = slice(start, start + micro)
        logits = model(x[rows])  # (micro, T, V)
        loss = F.cross_entropy(logits.flatten(0, 1), y[rows].flatten(), ignore_index=PAD, reduction="sum") / targets
        if not torch.isfinite(loss):
            raise FloatingPointError(f"the loss of microbatch {index} is {loss.item()}")
        loss.backward()
        total += loss.item()
    return total
    ### END SOLUTION


def advance(
    model: DropoutLanguageModel,
    optimizer: torch.optim.Optimizer,
    sampler: torch.Generator,
    data: Data,
    start: int,
    stop: int,
    plan: Plan,
) -> list[float]:
    """Do the steps start, start + 1, ..., stop - 1; return one loss per step, as `accumulate` returns it.

    One step: sample rows with exactly `torch.randint(len(data.x), (plan.batch,), generator=sampler)`; clear the
    gradients (`zero_grad(set_to_none=True)`); set the learning rate of *every* parameter group; accumulate in
    microbatches of `plan.micro`; clip the norm of the whole gradient to `plan.clip`; step; clear again, so that
    gradients are None at the end. Nothing else may consume random numbers: dropout draws from torch's global generator.
    Raises an exception, with the parameters unchanged, when the norm of the gradient is not finite.
    """
    ### BEGIN SOLUTION
    losses = []
    for step in range(start, stop):
        rows = torch.randint(len(data.x), (plan.batch,), generator=sampler)
        optimizer.zero_grad(set_to_none=True)
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, plan)
        losses.append(accumulate(model, data.x[rows], data.y[rows], plan.micro))
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return losses
    ### END SOLUTION


def save(
    path: str | os.PathLike[str],
    model: DropoutLanguageModel,
    optimizer: torch.optim.Optimizer,
    sampler: torch.Generator,
    completed: int,
    data: Data,
    plan: Plan,
) -> None:
    """Write a checkpoint to `path`, after `completed` steps: everything that the next step depends on.

    That is the model and the `model.config` that rebuilds it, the optimizer's state, `completed`, the plan, the state
    of the sampler and of torch's global generator, the vocabulary, the fingerprint of the data, and torch's version.
    How the file is laid out is yours, but `torch.load(path, weights_only=True)` must read it. Saving changes nothing
    else: training goes on as if there had been no save.

    Atomic: at every instant `path` holds a complete old or a complete new checkpoint, whether the process is killed or
    the disk is full. Write a temporary file in the same folder, flush it, sync it to the disk, rename it onto `path`. A
    save that fails raises, and leaves neither a temporary file nor a damaged checkpoint.
    """
    ### BEGIN SOLUTION
    _write(Path(path), _contents(model, optimizer, sampler, completed, data, plan))
    ### END SOLUTION


### BEGIN SOLUTION
def _contents(model, optimizer, sampler, completed, data, plan):
    return {
        "model": model.state_dict(),
        "config": dict(model.config),
        "optimizer": optimizer.state_dict(),
        "completed": completed,
        "plan": asdict(plan),
        "sampler": sampler.get_state(),
        "rng": torch.get_rng_state(),
        "vocab": list(data.vocab),
        "fingerprint": data.fingerprint,
        "torch": str(torch.__version__),
    }


def _write(path, contents):
    """At every instant `path` is what it was, or holds all of `contents`."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            torch.save(contents, file)
            file.flush()
            os.fsync(file.fileno())  # a rename may reach the disk before the data that it names
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


### END SOLUTION


def restore(
    path: str | os.PathLike[str], data: Data, plan: Plan
) -> tuple[DropoutLanguageModel, torch.optim.Optimizer, torch.Generator, int]:
    """Read a checkpoint: (model, optimizer, sampler, completed), from which `advance` goes on bit for bit.

    The model is float64 and in training mode. torch's global generator is set to the saved state *after* the model is
    built, because initialising a model draws random numbers.

    Raises FileNotFoundError when there is no file; ValueError when it is no complete checkpoint (cut at any length, or
    something else), and when it belongs to another vocabulary, other data, another plan or another torch: the message
    names what differs (for a plan, the field) and both values, long ones abbreviated. When it raises, nothing global
    has changed.
    """
    ### BEGIN SOLUTION
    contents = _read(Path(path))
    _refuse_others(contents, data, plan)
    return _rebuild(contents, plan)
    ### END SOLUTION


### BEGIN SOLUTION
def _read(path):
    content = path.read_bytes()
    try:
        contents = torch.load(io.BytesIO(content), weights_only=True)
        complete = contents.keys() >= _KEYS
    except Exception as error:
        reason = str(error).partition("\n")[0][:200]
        raise ValueError(f"{path} is no complete checkpoint: {reason}") from error
    if not complete:
        raise ValueError(f"{path} is no checkpoint of this course")
    return contents


_KEYS = {"model", "config", "optimizer", "completed", "plan", "sampler", "rng", "vocab", "fingerprint", "torch"}


def _refuse_others(contents, data, plan):
    _compare("torch version", contents["torch"], str(torch.__version__))
    for field, value in asdict(plan).items():
        _compare(f"plan.{field}", contents["plan"].get(field), value)
    _compare("vocabulary", contents["vocab"], list(data.vocab))
    _compare("data fingerprint", contents["fingerprint"], data.fingerprint)


def _compare(what, saved, given):
    """Raise ValueError unless both values are equal; lists are shown from their first difference on."""
    if saved == given:
        return
    sizes = ""
    if isinstance(given, list):
        sizes = f" ({len(saved)} and {len(given)} entries)"
        first = next((i for i, (a, b) in enumerate(zip(saved, given)) if a != b), min(len(saved), len(given)))
        saved, given = saved[first:], given[first:]
    raise ValueError(f"{what} differs: the checkpoint has {reprlib.repr(saved)}, this run {reprlib.repr(given)}{sizes}")


def _rebuild(contents, plan):
    with torch.random.fork_rng(devices=[]):  # initialising draws random numbers, of which nothing may remain
        model = DropoutLanguageModel(**contents["config"]).double()
    model.load_state_dict(contents["model"])
    optimizer = make_optimizer(model, plan)
    optimizer.load_state_dict(contents["optimizer"])
    sampler = torch.Generator()
    sampler.set_state(contents["sampler"])
    torch.set_rng_state(contents["rng"])
    return model, optimizer, sampler, contents["completed"]


### END SOLUTION


def packing(segments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Masks for several documents packed into one row: (allowed, targets_used, positions).

    segments: (T,) int64, T >= 1, the document of each token; a segment is a *run* of equal ids, so that [0, 1, 0] has
    three. The inputs are tokens 0 ... T-2, the target of input t is token t+1.

    allowed       (T-1, T-1) bool: input i may attend to input j: j <= i, in the same segment
    targets_used  (T-1,) bool: input and target lie in the same segment
    positions     (T-1,) int64: 0, 1, 2, ... from the start of each segment
    Example: [0, 0, 0, 1, 1, 1] gives targets_used [1, 1, 0, 1, 1] and positions [0, 1, 2, 0, 1].
    """
    ### BEGIN SOLUTION
    new = segments[1:] != segments[:-1]  # (T-1,) token t+1 opens a segment
    run = torch.cat([torch.zeros(1, dtype=torch.int64), new.cumsum(0)])[:-1]  # (T-1,) segment of each input
    t = torch.arange(len(new))
    allowed = (run[:, None] == run[None, :]) & (t[:, None] >= t[None, :])
    positions = allowed.sum(1) - 1  # the earlier tokens of the same segment
    return allowed, ~new, positions
    ### END SOLUTION
