"""Where the memory of training goes: account for it, measure it, and check what others report.

Everything is in bytes. Sources: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer
Models" (arXiv 2205.05198) for activations, Rajbhandari et al. 2020, "ZeRO" (arXiv 1910.02054) for static memory, Hu et
al. 2021, "LoRA" (arXiv 2106.09685).
"""

import copy

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from course_lib import Row, Verdict


def lora_parameters(layers: int, projections: int, d_model: int, rank: int) -> int:
    """Trainable parameters of LoRA adapters on square projections.

    Every one of `projections` (d_model, d_model) matrices in every one of `layers` layers stays frozen and gets two
    trainable factors beside it, A (rank, d_model) and B (d_model, rank), without biases.
    Returns an int, exact at any size.
    """
    ### BEGIN SOLUTION
    return layers * projections * (rank * d_model + d_model * rank)
    ### END SOLUTION


def static_bytes(
    frozen: int, trainable: int, *, weight: int = 2, grad: int = 2, state: int = 8, master: int = 0
) -> dict[str, int]:
    """Bytes that do not depend on the data.

    frozen, trainable: numbers of parameters of either kind.
    weight, grad, state, master: bytes per parameter of the weight itself, its gradient, the optimizer's state (two
    float32 moments of Adam by default) and a master copy (0 where there is none).
    A frozen parameter costs its weight and nothing else.

    Returns a dict with exactly the keys "weights", "grads", "optimizer", "master" and "total". Integers in, exact
    integers out, above 2^53 too.
    """
    ### BEGIN SOLUTION
    parts = {
        "weights": (frozen + trainable) * weight,
        "grads": trainable * grad,
        "optimizer": trainable * state,
        "master": trainable * master,
    }
    return parts | {"total": sum(parts.values())}
    ### END SOLUTION


def optimizer_state_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Bytes of the tensors that are really held in `optimizer.state`, now.

    Every tensor counts at its own element size, Adam's `step` (one small tensor per parameter) included; Python numbers
    count nothing. Most optimizers hold nothing before their first step, and nothing for a parameter that never had a
    gradient. Nothing is changed: measuring is not stepping.
    """
    ### BEGIN SOLUTION
    held = [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
    return sum(tensor.numel() * tensor.element_size() for tensor in held)
    ### END SOLUTION


def activation_bytes(module: nn.Module, *inputs) -> int:
    """Bytes that one forward pass keeps for the backward pass, parameters and buffers not counted.

    Watch `torch.autograd.graph.saved_tensors_hooks` during one run of `module(*inputs)`, in the mode the module is in:
      - a *storage* counts once, however many saved tensors look at it;
      - it counts with its own size, whatever part of it (a view) or repetition of it (an expanded tensor) was saved;
      - storages of the module's parameters and buffers do not count, and views of them do not either;
      - inputs and plain tensor attributes count when they are saved.
    `module(*inputs)` may return anything: a tensor, a tuple, a dict.

    Everything is left as it was: parameters, buffers (also where forward replaces one by a new tensor), modes,
    requires_grad, hooks, the .grad of parameters and inputs, torch's CPU random generator.
    """
    ### BEGIN SOLUTION
    twin = copy.deepcopy(module)  # what forward changes, it changes on the copy
    own = _storages([*twin.parameters(), *twin.buffers()])
    saved = []
    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(_keep_in(saved), lambda tensor: tensor):
        twin(*inputs)
    return sum(storage.nbytes() for key, storage in _storages(saved).items() if key not in own)
    ### END SOLUTION


### BEGIN SOLUTION
def _keep_in(saved):
    def pack(tensor):
        saved.append(tensor)  # held until it is counted: the address of a freed storage is given away again
        return tensor

    return pack


def _storages(tensors):
    """The storages behind the tensors, each once, by identity."""
    storages = [tensor.untyped_storage() for tensor in tensors]
    return {storage._cdata: storage for storage in storages}


### END SOLUTION


def solve_fixed_and_slope(rows: list[tuple[int, int]]) -> tuple[float, float]:
    """The line bytes = fixed + per_sample * batch through measured rows (batch, bytes).

    Two distinct batches determine it exactly (to 1e-9 of the largest number of bytes); with more rows it is the line of
    least squares. Returns (fixed, per_sample).
    Raises ValueError when there are fewer than two distinct batches, or no rows.
    """
    ### BEGIN SOLUTION
    if len({batch for batch, _ in rows}) < 2:
        raise ValueError(f"a line needs two different batch sizes, got {sorted({batch for batch, _ in rows})}")
    mean_batch = sum(batch for batch, _ in rows) / len(rows)
    mean_bytes = sum(size for _, size in rows) / len(rows)
    # Around the mean: sums of large squares would cancel.
    covariance = sum((batch - mean_batch) * (size - mean_bytes) for batch, size in rows)
    per_sample = covariance / sum((batch - mean_batch) ** 2 for batch, _ in rows)
    return mean_bytes - per_sample * mean_batch, per_sample
    ### END SOLUTION


def implied_tokens(reported_bytes: int, static: int, bytes_per_token: float, batch: int) -> float:
    """Tokens per sample that would account for everything above `static`.

    The inverse of reported = static + bytes_per_token * tokens * batch. Returns a float; it may be negative.
    """
    ### BEGIN SOLUTION
    return (reported_bytes - static) / (bytes_per_token * batch)
    ### END SOLUTION


def reconcile(rows: list[Row], bytes_per_token: float, tolerance: float = 0.1) -> list[Verdict]:
    """One `Verdict` per reported row, in the order of the rows.

    rows: Row(name, reported, static, batch, tokens=None), see course_lib. predicted = static + bytes_per_token *
    tokens * batch. The first label that applies:
        "impossible"   reported < static
        "open"         tokens is None (0 is a known number of tokens)
        "explained"    |reported - predicted| <= tolerance * reported
        "unexplained"  otherwise
    residue: reported - predicted, or reported - static when tokens is None.
    implied_tokens: as `implied_tokens` has it, for an open row; for others it is not looked at.
    """
    ### BEGIN SOLUTION
    return [_verdict(row, bytes_per_token, tolerance) for row in rows]
    ### END SOLUTION


### BEGIN SOLUTION
def _verdict(row, bytes_per_token, tolerance):
    known = 0 if row.tokens is None else row.tokens
    residue = row.reported - (row.static + bytes_per_token * known * row.batch)
    if row.reported < row.static:
        label = "impossible"
    elif row.tokens is None:
        label = "open"
    elif abs(residue) <= tolerance * row.reported:
        label = "explained"
    else:
        label = "unexplained"
    return Verdict(row.name, label, residue, implied_tokens(row.reported, row.static, bytes_per_token, row.batch))


### END SOLUTION
