"""What a value under construction can do: arithmetic that is recorded instead of computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from course_lib.graph.kernels import Array
from course_lib.graph.ops import OPS
from course_lib.graph.shapes import Shape, shape_text

Operand: TypeAlias = "Value | Array | float"


class Recorder(Protocol):
    """Where operations go: a tracer or a lazy runner."""

    depth: int

    def record(self, op: str, args: Sequence[Operand], attrs: dict[str, Any]) -> Value:
        """Record one operation and return its result."""

    def loop(self, condition: Any, body: Any, state: Sequence[Operand]) -> tuple[Value, ...]:
        """Record a whole loop."""


class Value(ABC):
    """Base of traced and lazy values: `+ - * / @ < >`, `.shape`, `.T`, `.reshape`, `.transpose` work as on arrays."""

    __array_ufunc__ = None  # numpy leaves `array * value` to __rmul__
    __hash__ = object.__hash__

    @property
    @abstractmethod
    def shape(self) -> Shape: ...

    @property
    @abstractmethod
    def recorder(self) -> Recorder: ...

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return self.transpose(*reversed(range(self.ndim)))

    def reshape(self, *shape: Any) -> Any:
        """See F.reshape."""
        from course_lib.graph import functional

        return functional.reshape(self, *shape)

    def transpose(self, *axes: Any) -> Any:
        """See F.transpose."""
        from course_lib.graph import functional

        return functional.transpose(self, *axes)

    def __add__(self, other: Operand) -> Any:
        return apply("add", self, other)

    def __radd__(self, other: Operand) -> Any:
        return apply("add", other, self)

    def __sub__(self, other: Operand) -> Any:
        return apply("sub", self, other)

    def __rsub__(self, other: Operand) -> Any:
        return apply("sub", other, self)

    def __mul__(self, other: Operand) -> Any:
        return apply("mul", self, other)

    def __rmul__(self, other: Operand) -> Any:
        return apply("mul", other, self)

    def __truediv__(self, other: Operand) -> Any:
        return apply("div", self, other)

    def __rtruediv__(self, other: Operand) -> Any:
        return apply("div", other, self)

    def __matmul__(self, other: Operand) -> Any:
        return apply("matmul", self, other)

    def __rmatmul__(self, other: Operand) -> Any:
        return apply("matmul", other, self)

    def __neg__(self) -> Any:
        return apply("neg", self)

    def __gt__(self, other: Operand) -> Any:
        return apply("greater", self, other)

    def __lt__(self, other: Operand) -> Any:
        return apply("less", self, other)

    def __iter__(self) -> Any:
        raise TypeError(f"a value of shape {shape_text(self.shape)} cannot be iterated over: use F.slice")


def recorder_of(operands: Sequence[Any]) -> Recorder | None:
    """The innermost recorder among the operands; None when all of them are plain arrays or numbers."""
    recorders = [operand.recorder for operand in operands if isinstance(operand, Value)]
    return max(recorders, key=lambda recorder: recorder.depth, default=None)


def apply(op: str, *operands: Operand, **attrs: Any) -> Any:
    """Record `op` where an operand is traced or lazy, compute it at once where all of them are plain."""
    recorder = recorder_of(operands)
    if recorder is not None:
        return recorder.record(op, operands, attrs)
    symbolic = [value for value in attrs.values() if isinstance(value, str)]
    if symbolic:
        raise TypeError(f"{op}: {symbolic[0]!r} is a symbol, it has a value only in a traced graph")
    return OPS[op].compute([np.asarray(operand, dtype=np.float64) for operand in operands], attrs)
