"""The table of operations: name, numpy expression, shape rule, cost. A new operation is one entry.

The expression is the only implementation: the interpreter evaluates it as a function, the code generator writes it out,
so the two cannot disagree in a bit. `{0}`, `{1}` are arguments, `{args}` all of them, other fields are attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import Any, TypeAlias

import numpy as np

from course_lib.graph import kernels, rules
from course_lib.graph.guards import Guard, position_guards
from course_lib.graph.kernels import Array
from course_lib.graph.shapes import Shape, Size, multiply, numel

NAMESPACE: dict[str, Any] = {
    "np": np,
    **{name: getattr(kernels, name) for name in ("softmax", "rms_norm", "silu", "rope", "cache_write", "cut", "loop")},
}
"""What a generated line may name."""

Cost: TypeAlias = Callable[[tuple[Shape, ...], Shape], Size]
"""From the argument shapes and the result shape to floating-point operations."""


def per_result(operations: int) -> Cost:
    """`operations` for every element of the result."""
    return lambda shapes, result: multiply(operations, numel(result))


def per_argument(operations: int) -> Cost:
    """`operations` for every element of the first argument."""
    return lambda shapes, result: multiply(operations, numel(shapes[0]))


def _matmul_cost(shapes: tuple[Shape, ...], result: Shape) -> Size:
    return multiply(multiply(2, shapes[0][-1]), numel(result))


def _no_guards(shapes: tuple[Shape, ...], attrs: rules.Attrs) -> list[Guard]:
    return []


def _cache_guards(shapes: tuple[Shape, ...], attrs: rules.Attrs) -> list[Guard]:
    return position_guards(attrs["position"], shapes[0][1])


@dataclass(frozen=True)
class Op:
    """One operation; `composite` ones are taken apart by the `decompose` pass."""

    name: str
    expression: str
    shape: rules.ShapeRule
    cost: Cost
    composite: bool = False
    guards: Callable[[tuple[Shape, ...], rules.Attrs], list[Guard]] = _no_guards

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The attributes that the expression uses."""
        names = (field for _, field, _, _ in Formatter().parse(self.expression) if field)
        return tuple(dict.fromkeys(name for name in names if name != "args" and not name.isdigit()))

    @cached_property
    def function(self) -> Callable[..., Array]:
        """The expression as a function of (arguments..., then its attributes by name)."""
        named = {name: name for name in self.fields}
        positions = sorted(
            {field for _, field, _, _ in Formatter().parse(self.expression) if field and field.isdigit()}
        )
        arguments = [f"a{position}" for position in positions]
        body = self.expression.format(*arguments, args="*args", **named)
        variadic = ["*args"] if "{args}" in self.expression else []
        star = ["*"] if self.fields and not variadic else []
        parameters = ", ".join([*arguments, *variadic, *star, *self.fields])
        function: Callable[..., Array] = eval(f"lambda {parameters}: {body}", dict(NAMESPACE))
        return function

    def compute(self, arguments: list[Array], attrs: dict[str, Any]) -> Array:
        """Apply the operation to arrays; `attrs` hold numbers only, no symbols."""
        return self.function(*arguments, **{name: attrs[name] for name in self.fields})


def _unary(name: str, expression: str) -> Op:
    return Op(name, expression, rules.same, per_result(1))


def _binary(name: str, expression: str) -> Op:
    return Op(name, expression, rules.elementwise(name), per_result(1))


def _reduction(name: str) -> Op:
    expression = f"np.{name}({{0}}, axis={{axis}}, keepdims={{keepdims}})"
    return Op(name, expression, rules.reduction(name), per_argument(1))


_TABLE = (
    _unary("neg", "-{0}"),
    _unary("abs", "np.abs({0})"),
    _unary("exp", "np.exp({0})"),
    _unary("log", "np.log({0})"),
    _unary("sqrt", "np.sqrt({0})"),
    _unary("rsqrt", "1.0 / np.sqrt({0})"),
    _unary("tanh", "np.tanh({0})"),
    _binary("add", "{0} + {1}"),
    _binary("sub", "{0} - {1}"),
    _binary("mul", "{0} * {1}"),
    _binary("div", "{0} / {1}"),
    _binary("maximum", "np.maximum({0}, {1})"),
    _binary("minimum", "np.minimum({0}, {1})"),
    _binary("greater", "({0} > {1}) * 1.0"),
    _binary("less", "({0} < {1}) * 1.0"),
    _binary("where", "np.where({0} != 0.0, {1}, {2})"),
    _reduction("sum"),
    _reduction("mean"),
    _reduction("max"),
    Op("matmul", "{0} @ {1}", rules.matmul, _matmul_cost),
    Op("transpose", "np.transpose({0}, {axes})", rules.transpose, per_result(0)),
    Op("reshape", "np.reshape({0}, {shape})", rules.reshape, per_result(0)),
    Op("broadcast_to", "np.broadcast_to({0}, {shape})", rules.broadcast_to, per_result(0)),
    Op("concat", "np.concatenate([{args}], axis={axis})", rules.concat, per_result(0)),
    Op("slice", "cut({0}, {axis}, {start}, {stop})", rules.cut, per_result(0)),
    Op("cache_write", "cache_write({0}, {1}, {position})", rules.cache_write, per_result(0), guards=_cache_guards),
    Op("softmax", "softmax({0}, {axis})", rules.along_axis("softmax"), per_result(5), composite=True),
    Op("rms_norm", "rms_norm({0}, {1}, {eps})", rules.rms_norm, per_result(5), composite=True),
    Op("silu", "silu({0})", rules.same, per_result(4), composite=True),
    Op("rope", "rope({0}, {1}, {2})", rules.rope, per_result(4), composite=True),
    Op("while_loop", "loop({condition}, {body}, {count}, {args})", lambda shapes, attrs: (), per_result(0)),
    Op("item", "{0}[{index}]", rules.item, per_result(0)),
)

OPS: dict[str, Op] = {op.name: op for op in _TABLE}
