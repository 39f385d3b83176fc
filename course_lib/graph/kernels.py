"""The numpy functions that interpreted and generated code share: what one numpy call cannot say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def softmax(x: Array, axis: int) -> Array:
    """exp(x - max) / sum exp(x - max) along `axis`."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    shares: Array = e / np.sum(e, axis=axis, keepdims=True)
    return shares


def rms_norm(x: Array, weight: Array, eps: float) -> Array:
    """x / sqrt(mean(x^2) + eps) * weight over the last axis (Zhang & Sennrich 2019, arXiv 1910.07467)."""
    scale = 1.0 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    normed: Array = x * scale * weight
    return normed


def silu(x: Array) -> Array:
    """x * sigmoid(x)."""
    return x / (1.0 + np.exp(-x))


def rope(x: Array, cos: Array, sin: Array) -> Array:
    """Rotary position embedding, halves rotated against each other (Su et al. 2021, arXiv 2104.09864)."""
    half = x.shape[-1] // 2
    rotated = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * cos + rotated * sin


def cache_write(cache: Array, new: Array, position: int) -> Array:
    """A copy of cache (H, S, D) with new (H, 1, D) at `position` of the middle axis."""
    written = cache.copy()
    written[:, position : position + 1] = new
    return written


def cut(x: Array, axis: int, start: int, stop: int) -> Array:
    """x[start:stop] along `axis`."""
    return x[(slice(None),) * axis + (slice(start, stop),)]


def loop(
    condition: Callable[..., Array], body: Callable[..., Sequence[Array]], count: int, *values: Array
) -> tuple[Array, ...]:
    """The first `count` values are the state, the rest is what cond and body use from outside."""
    state, outside = values[:count], values[count:]
    while condition(*state, *outside):
        state = tuple(body(*state, *outside))
    return state
