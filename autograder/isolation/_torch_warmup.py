"""One small use of what submissions use, so that lazy set-up happens once, while /proc and /sys are still there."""

from __future__ import annotations

import io

import numpy as np
import torch
from torch import nn


def run(*, with_optimizers: bool) -> None:
    """Differentiate, attend, convolve, multiply in bfloat16, save and load once; leaves one thread and fixed seeds.

    The first optimizer imports torch's compiler, which doubles the start of the warm parent; where no submission
    trains it is better left out.
    """
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 4))
    model(torch.randn(2, 1, 8, 8)).square().mean().backward()
    _operators()
    _files()
    if with_optimizers:
        for kind in (torch.optim.SGD, torch.optim.AdamW):
            kind(model.parameters(), lr=0.1).step()
    torch.manual_seed(0)
    np.random.seed(0)


def _operators() -> None:
    q = torch.randn(1, 2, 4, 8)
    nn.functional.scaled_dot_product_attention(q, q, q)
    nn.MultiheadAttention(8, 2, batch_first=True)(*[torch.randn(1, 4, 8)] * 3)
    torch.softmax(torch.randn(4, 4), -1)
    torch.linalg.svd(torch.randn(8, 8))
    # The first bfloat16 product asks the processor what it can, through /proc/cpuinfo and /sys.
    torch.randn(8, 8).bfloat16() @ torch.randn(8, 8).bfloat16()


def _files() -> None:
    buffer = io.BytesIO()
    torch.save({"w": torch.zeros(2)}, buffer)
    buffer.seek(0)
    torch.load(buffer, weights_only=True)
