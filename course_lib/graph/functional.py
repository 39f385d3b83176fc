"""`F`: the operations of the graph lab, on traced values, lazy values and plain arrays alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.graph.rules import solved_reshape
from course_lib.graph.shapes import Size, checked_shape
from course_lib.graph.value import Operand, Value, apply, recorder_of


def neg(x: Operand) -> Any:
    """-x."""
    return apply("neg", x)


def abs(x: Operand) -> Any:
    """|x|."""
    return apply("abs", x)


def exp(x: Operand) -> Any:
    """e^x."""
    return apply("exp", x)


def log(x: Operand) -> Any:
    """Natural logarithm."""
    return apply("log", x)


def sqrt(x: Operand) -> Any:
    """Square root."""
    return apply("sqrt", x)


def rsqrt(x: Operand) -> Any:
    """1 / sqrt(x)."""
    return apply("rsqrt", x)


def tanh(x: Operand) -> Any:
    """Hyperbolic tangent."""
    return apply("tanh", x)


def add(a: Operand, b: Operand) -> Any:
    """a + b, broadcast."""
    return apply("add", a, b)


def sub(a: Operand, b: Operand) -> Any:
    """a - b, broadcast."""
    return apply("sub", a, b)


def mul(a: Operand, b: Operand) -> Any:
    """a * b, broadcast."""
    return apply("mul", a, b)


def div(a: Operand, b: Operand) -> Any:
    """a / b, broadcast."""
    return apply("div", a, b)


def maximum(a: Operand, b: Operand) -> Any:
    """The larger of both, elementwise, broadcast."""
    return apply("maximum", a, b)


def minimum(a: Operand, b: Operand) -> Any:
    """The smaller of both, elementwise, broadcast."""
    return apply("minimum", a, b)


def greater(a: Operand, b: Operand) -> Any:
    """1.0 where a > b, else 0.0."""
    return apply("greater", a, b)


def less(a: Operand, b: Operand) -> Any:
    """1.0 where a < b, else 0.0."""
    return apply("less", a, b)


def where(condition: Operand, a: Operand, b: Operand) -> Any:
    """a where the condition is not 0.0, else b."""
    return apply("where", condition, a, b)


def sum(x: Operand, axis: int | None = None, keepdims: bool = False) -> Any:
    """Sum over `axis`, over everything when None."""
    return apply("sum", x, axis=axis, keepdims=keepdims)


def mean(x: Operand, axis: int | None = None, keepdims: bool = False) -> Any:
    """Mean over `axis`, over everything when None."""
    return apply("mean", x, axis=axis, keepdims=keepdims)


def max(x: Operand, axis: int | None = None, keepdims: bool = False) -> Any:
    """Maximum over `axis`, over everything when None."""
    return apply("max", x, axis=axis, keepdims=keepdims)


def matmul(a: Operand, b: Operand) -> Any:
    """(..., n, k) @ (..., k, m) -> (..., n, m); both need two axes or more."""
    return apply("matmul", a, b)


def transpose(x: Operand, *axes: Any) -> Any:
    """The axes in the given order; `transpose(x)` reverses them."""
    order = axes[0] if len(axes) == 1 and isinstance(axes[0], Sequence) else axes
    rank = x.ndim if isinstance(x, Value) else np.ndim(x)
    counted = tuple(int(axis) % rank for axis in order) if order else tuple(reversed(range(rank)))
    return apply("transpose", x, axes=counted)


def reshape(x: Operand, *shape: Any) -> Any:
    """The same elements in `shape`; one size may be -1. Sizes may be symbols where `x` is traced."""
    wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    current = x.shape if isinstance(x, Value) else checked_shape(np.shape(x))
    return apply("reshape", x, shape=checked_shape(solved_reshape(current, wanted)))


def broadcast_to(x: Operand, shape: Sequence[Size]) -> Any:
    """Axes of size 1 repeated until the shape is `shape`."""
    return apply("broadcast_to", x, shape=checked_shape(shape))


def concat(parts: Sequence[Operand], axis: int = 0) -> Any:
    """Joined along `axis`."""
    if not parts:
        raise ValueError("concat needs at least one part")
    return apply("concat", *parts, axis=axis)


def slice(x: Operand, axis: int, start: int, stop: int) -> Any:
    """start:stop of `axis`, which has to lie inside provably."""
    rank = x.ndim if isinstance(x, Value) else np.ndim(x)
    return apply("slice", x, axis=axis % rank if rank else axis, start=start, stop=stop)


def cache_write(cache: Operand, new: Operand, position: int | str) -> Any:
    """A copy of `cache` (H, S, D) with `new` (H, 1, D) written at `position`, an int or a symbol such as "P"."""
    return apply("cache_write", cache, new, position=checked_shape((position,))[0])


def softmax(x: Operand, axis: int = -1) -> Any:
    """Softmax along `axis`."""
    return apply("softmax", x, axis=axis)


def rms_norm(x: Operand, weight: Operand, eps: float = 1e-6) -> Any:
    """x / sqrt(mean(x^2) + eps) * weight; x (..., d), weight (d,)."""
    return apply("rms_norm", x, weight, eps=float(eps))


def silu(x: Operand) -> Any:
    """x * sigmoid(x)."""
    return apply("silu", x)


def rope(x: Operand, cos: Operand, sin: Operand) -> Any:
    """Rotary embedding of x (..., d) with tables that broadcast to it."""
    return apply("rope", x, cos, sin)


def while_loop(condition: Callable[..., Any], body: Callable[..., Any], *state: Operand) -> Any:
    """Repeat `state = body(*state)` while `condition(*state)` is not 0.0; the state keeps its shapes.

    On traced and lazy values the whole loop becomes one node of one graph, however often it turns. Returns the last
    state: one value when there is one, else a tuple. Values from outside may be used in both functions.
    """
    if not state:
        raise ValueError("while_loop needs at least one value of state")
    recorder = recorder_of(state)
    if recorder is not None:
        result = recorder.loop(condition, body, state)
        return result[0] if len(state) == 1 else result
    values: tuple[Any, ...] = tuple(np.asarray(value, dtype=np.float64) for value in state)
    while condition(*values):
        following = body(*values)
        values = tuple(following) if isinstance(following, tuple | list) else (following,)
    return values[0] if len(state) == 1 else values
