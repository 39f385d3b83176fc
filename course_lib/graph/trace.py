"""From a Python function to a graph: run it once on values that record what is done to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from course_lib.graph.graph import Builder, Graph
from course_lib.graph.kernels import Array
from course_lib.graph.shapes import Shape, Size, checked_shape, mismatch, numel, shape_text
from course_lib.graph.value import Operand, Value


class Traced(Value):
    """A value of a graph under construction: a shape, no data."""

    def __init__(self, tracer: Tracer, index: int) -> None:
        self._tracer = tracer
        self._index = index

    @property
    def shape(self) -> Shape:
        return self._tracer.shape(self._index)

    @property
    def recorder(self) -> Tracer:
        return self._tracer

    def __repr__(self) -> str:
        return f"Traced(%{self._index}, shape {shape_text(self.shape)})"

    def _no_data(self, *args: Any) -> NoReturn:
        raise TypeError(
            f"%{self._index} has no value while the function is traced: a branch on data is F.where or F.while_loop "
            "in one graph, or a graph break with LazyRunner"
        )

    __bool__ = __float__ = __int__ = __index__ = __array__ = _no_data


class Tracer(Builder):
    """Records operations into nodes. A tracer with a parent records the inside of a loop: what it uses from outside
    becomes an input of the inner graph (`captured` lists the outer nodes)."""

    def __init__(self, parent: Tracer | None = None) -> None:
        super().__init__()
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.captured: list[int] = []
        self._captures: dict[int, int] = {}

    def record(self, op: str, args: Sequence[Operand], attrs: dict[str, Any]) -> Traced:
        return Traced(self, self.emit(op, [self.lift(arg) for arg in args], **attrs))

    def lift(self, operand: Operand) -> int:
        """The node that stands for `operand` here: its own, a captured one, or a new constant."""
        if isinstance(operand, Traced) and operand._tracer is self:
            return operand._index
        if not isinstance(operand, Value):
            return self.constant(_constant(operand))
        if self.parent is None:
            raise TypeError(f"{operand!r} belongs to another graph")
        outer = self.parent.lift(operand)
        if outer not in self._captures:
            self._captures[outer] = self.argument(f"outside{len(self.captured)}", self.parent.shape(outer))
            self.captured.append(outer)
        return self._captures[outer]

    def loop(
        self, condition: Callable[..., Any], body: Callable[..., Any], state: Sequence[Operand]
    ) -> tuple[Any, ...]:
        start = [self.lift(value) for value in state]
        shapes = [self.shape(index) for index in start]
        inner = Tracer(self)
        arguments = [Traced(inner, inner.argument(f"state{i}", shape)) for i, shape in enumerate(shapes)]
        test = inner.lift(condition(*arguments))
        following = body(*arguments)
        results = [inner.lift(r) for r in (following if isinstance(following, tuple | list) else (following,))]
        _check_loop(inner, test, results, shapes)
        self.guards += inner.guards
        attrs = {
            "condition": inner.graph([test], single=True),
            "body": inner.graph(results),
            "count": len(state),
        }
        whole = self.emit("while_loop", [*start, *inner.captured], **attrs)
        items = [self.emit("item", [whole], index=i, shape=shape) for i, shape in enumerate(shapes)]
        return tuple(Traced(self, item) for item in items)


def _check_loop(inner: Tracer, test: int, results: Sequence[int], shapes: Sequence[Shape]) -> None:
    if numel(inner.shape(test)) != 1:
        raise mismatch("while_loop", inner.shape(test), (), "the condition has to be one number")
    if len(results) != len(shapes):
        raise ValueError(f"while_loop: the body returns {len(results)} values for a state of {len(shapes)}")
    for index, shape in zip(results, shapes, strict=True):
        if inner.shape(index) != shape:
            raise mismatch("while_loop", shape, inner.shape(index), "the state has to keep its shapes")


def _constant(value: Any) -> Array:
    array: Array = np.array(value, dtype=np.float64)
    array.flags.writeable = False
    return array


def trace(
    fn: Callable[..., Any],
    inputs: Mapping[str, Sequence[Size]],
    params: Mapping[str, Any] | None = None,
) -> Graph:
    """Call `fn` once with a traced value for every input and the constant `params`, all by name; return its graph.

    `inputs` maps names to shapes whose sizes are ints or symbols ("S"); `params` maps names to arrays that become
    constants. `fn` returns one value or a tuple. ShapeError names the operation and both shapes where a shape cannot
    be proven; a branch on data is TypeError.
    """
    tracer = Tracer()
    traced = {name: Traced(tracer, tracer.input(name, checked_shape(shape))) for name, shape in inputs.items()}
    held = {name: Traced(tracer, tracer.constant(_constant(value))) for name, value in (params or {}).items()}
    shared = sorted(traced.keys() & held.keys())
    if shared:
        raise ValueError(f"{shared[0]!r} is an input and a parameter")
    result = fn(**traced, **held)
    single = not isinstance(result, tuple | list)
    results = [result] if single else list(result)
    return tracer.graph([tracer.lift(value) for value in results], single=single)
