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
    raise NotImplementedError("hw6: lora_parameters is not written yet")


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
    raise NotImplementedError("hw6: static_bytes is not written yet")


def optimizer_state_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Bytes of the tensors that are really held in `optimizer.state`, now.

    Every tensor counts at its own element size, Adam's `step` (one small tensor per parameter) included; Python numbers
    count nothing. Most optimizers hold nothing before their first step, and nothing for a parameter that never had a
    gradient. Nothing is changed: measuring is not stepping.
    """
    raise NotImplementedError("hw6: optimizer_state_bytes is not written yet")


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
    raise NotImplementedError("hw6: activation_bytes is not written yet")


def solve_fixed_and_slope(rows: list[tuple[int, int]]) -> tuple[float, float]:
    """The line bytes = fixed + per_sample * batch through measured rows (batch, bytes).

    Two distinct batches determine it exactly (to 1e-9 of the largest number of bytes); with more rows it is the line of
    least squares. Returns (fixed, per_sample).
    Raises ValueError when there are fewer than two distinct batches, or no rows.
    """
    raise NotImplementedError("hw6: solve_fixed_and_slope is not written yet")


def implied_tokens(reported_bytes: int, static: int, bytes_per_token: float, batch: int) -> float:
    """Tokens per sample that would account for everything above `static`.

    The inverse of reported = static + bytes_per_token * tokens * batch. Returns a float; it may be negative.
    """
    raise NotImplementedError("hw6: implied_tokens is not written yet")


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
    raise NotImplementedError("hw6: reconcile is not written yet")
