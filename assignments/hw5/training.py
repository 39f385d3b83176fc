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
    raise NotImplementedError("hw5: learning_rate is not written yet")


def accumulate(model: DropoutLanguageModel, x: Tensor, y: Tensor, micro: int) -> float:
    """Add the gradient of the batch's mean loss per target to what is in `.grad`; return that loss as a Python float.

    x, y: (B, T) int64 token ids; `y[i, t]` is the target after `x[i, t]`, and a target that is PAD counts nowhere.
    micro: rows per forward and backward pass, taken in order; it need not divide B and may exceed it.

    Every microbatch is divided by the number of targets of the *whole* batch, so that each token weighs the same
    wherever the batch is cut. A microbatch of PAD only contributes zero. Gradients are added to, never cleared.
    Raises ValueError when the whole batch has no target, and FloatingPointError that names the microbatch when its loss
    is not finite, before that microbatch's backward pass.
    """
    raise NotImplementedError("hw5: accumulate is not written yet")


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
    raise NotImplementedError("hw5: advance is not written yet")


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
    raise NotImplementedError("hw5: save is not written yet")


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
    raise NotImplementedError("hw5: restore is not written yet")


def packing(segments: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Masks for several documents packed into one row: (allowed, targets_used, positions).

    segments: (T,) int64, T >= 1, the document of each token; a segment is a *run* of equal ids, so that [0, 1, 0] has
    three. The inputs are tokens 0 ... T-2, the target of input t is token t+1.

    allowed       (T-1, T-1) bool: input i may attend to input j: j <= i, in the same segment
    targets_used  (T-1,) bool: input and target lie in the same segment
    positions     (T-1,) int64: 0, 1, 2, ... from the start of each segment
    Example: [0, 0, 0, 1, 1, 1] gives targets_used [1, 1, 0, 1, 1] and positions [0, 1, 2, 0, 1].
    """
    raise NotImplementedError("hw5: packing is not written yet")
