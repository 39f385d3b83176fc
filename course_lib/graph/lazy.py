"""Lazy evaluation: operations are recorded, a graph is compiled and run when somebody looks at a value.

The idea of LazyTensor (Suhan et al. 2021, arXiv 2102.13267): no tracing call, at the price of a graph break wherever
Python needs to know a number.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.graph.interpret import run
from course_lib.graph.kernels import Array
from course_lib.graph.passes import optimize
from course_lib.graph.shapes import Shape, shape_text
from course_lib.graph.trace import Traced, Tracer
from course_lib.graph.value import Operand, Value


class LazyArray(Value):
    """A value that is known, or that the pending graph of its runner will compute."""

    def __init__(self, runner: LazyRunner, known: Array | None, pending: Traced | None) -> None:
        self._runner = runner
        self._known = known
        self._pending = pending

    @property
    def shape(self) -> Shape:
        return tuple(self._known.shape) if self._known is not None else self._traced().shape

    @property
    def recorder(self) -> LazyRunner:
        return self._runner

    def numpy(self) -> Array:
        """The value, as a copy; compiles and runs what is pending."""
        if self._known is None:
            self._runner.materialise()
        return np.array(self._known, dtype=np.float64)

    def _traced(self) -> Traced:
        assert self._pending is not None  # one of the two is always set
        return self._pending

    def __float__(self) -> float:
        return float(self.numpy().item())

    def __int__(self) -> int:
        return int(float(self))

    def __bool__(self) -> bool:
        return bool(self.numpy())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.numpy().astype(dtype or np.float64)

    def __repr__(self) -> str:
        state = "known" if self._known is not None else "pending"
        return f"LazyArray(shape {shape_text(self.shape)}, {state})"


class _PendingTracer(Tracer):
    """A tracer that knows the lazy values of its runner."""

    def __init__(self, runner: LazyRunner) -> None:
        super().__init__()
        self._runner = runner

    def lift(self, operand: Operand) -> int:
        return super().lift(self._runner.pending_value(operand) if isinstance(operand, LazyArray) else operand)


class LazyRunner:
    """Records what is done to its arrays and runs it on demand. `graphs` lists the number of operations of every
    graph that was run: more than one means that the program looked at a value in between (a graph break)."""

    def __init__(self) -> None:
        self.depth = 0
        self.graphs: list[int] = []
        self._start()

    def array(self, values: Any) -> LazyArray:
        """A lazy value that starts out known."""
        return LazyArray(self, np.array(values, dtype=np.float64), None)

    def record(self, op: str, args: Sequence[Operand], attrs: dict[str, Any]) -> LazyArray:
        return self._result(self._tracer.record(op, args, attrs))

    def loop(
        self, condition: Callable[..., Any], body: Callable[..., Any], state: Sequence[Operand]
    ) -> tuple[LazyArray, ...]:
        return tuple(map(self._result, self._tracer.loop(condition, body, state)))

    def materialise(self) -> None:
        """Compile and run the pending graph; every value that is still in use becomes known."""
        alive = [value for value in map(_dereferenced, self._results) if value is not None]
        if not alive:
            return
        traced = self._tracer.graph([self._tracer.lift(value) for value in alive])
        graph, _ = optimize(traced)
        self.graphs.append(graph.count())
        for value, result in zip(alive, run(graph, self._inputs), strict=True):
            value._known, value._pending = np.asarray(result), None
        self._start()

    def pending_value(self, value: LazyArray) -> Traced:
        """The node of the pending graph that stands for `value`; a known one becomes an input."""
        if value._runner is not self:
            raise TypeError(f"{value!r} belongs to another LazyRunner")
        if value._known is None:
            return value._traced()
        if id(value) not in self._named:
            name = f"in{len(self._named)}"
            traced = Traced(self._tracer, self._tracer.input(name, value.shape))
            self._named[id(value)] = (value, traced)  # holding the value keeps its id taken
            self._inputs[name] = value._known
        return self._named[id(value)][1]

    def _result(self, traced: Traced) -> LazyArray:
        result = LazyArray(self, None, traced)
        self._results.append(weakref.ref(result))
        return result

    def _start(self) -> None:
        self._tracer = _PendingTracer(self)
        self._results: list[weakref.ref[LazyArray]] = []
        self._named: dict[int, tuple[LazyArray, Traced]] = {}
        self._inputs: dict[str, Array] = {}


def _dereferenced(reference: weakref.ref[LazyArray]) -> LazyArray | None:
    return reference()
