"""What one training run of hw5 is made of: the plan, the data, the optimizer, and a fresh start."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from course_lib.models import DropoutLanguageModel


@dataclass(frozen=True)
class Plan:
    """The numbers that fix a run: a run continued under another plan is another run.

    total, warmup  steps of the whole run, and of the linear warm-up at its start
    peak, floor    highest learning rate and the one of the last step
    batch, micro   rows per optimizer step, and rows per forward and backward pass
    clip           largest gradient norm
    weight_decay   of AdamW
    """

    total: int = 12
    warmup: int = 3
    peak: float = 3e-3
    floor: float = 3e-4
    batch: int = 16
    micro: int = 8
    clip: float = 1.0
    weight_decay: float = 0.01


@dataclass(frozen=True, eq=False)
class Data:
    """Windows of token ids and what they were made with.

    x, y         (n, T) int64 inputs and targets; y[i, t] follows x[i, t]; PAD = 0 is neither read nor predicted
    vocab        the words, vocab[i] is the word of id i
    fingerprint  hex SHA-256 of the three above: two data sets with the same one are the same
    """

    x: Tensor
    y: Tensor
    vocab: tuple[str, ...]
    fingerprint: str


def make_optimizer(model: torch.nn.Module, plan: Plan) -> torch.optim.AdamW:
    """AdamW over all parameters of `model`; the learning rate is set anew by every step."""
    return torch.optim.AdamW(model.parameters(), lr=plan.peak, weight_decay=plan.weight_decay)


def fresh(data: Data, plan: Plan, seed: int) -> tuple[DropoutLanguageModel, torch.optim.AdamW, torch.Generator]:
    """A run before its first step: (model, optimizer, sampler), equal for equal arguments.

    Seeds torch's global generator, from which the float64 model is initialised and dropout draws; the sampler is a
    generator of its own, so that what is sampled does not depend on how much dropout drew.
    """
    torch.manual_seed(seed)
    model = DropoutLanguageModel(vocab_size=len(data.vocab), context=data.x.shape[1], d_model=16).double()
    sampler = torch.Generator().manual_seed(seed + 1)
    return model, make_optimizer(model, plan), sampler
