"""The graph: nodes in execution order, each with a proven shape, and the builder that makes new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.graph.guards import Guard, input_guards, unique
from course_lib.graph.kernels import Array
from course_lib.graph.ops import OPS
from course_lib.graph.shapes import SYMBOL_MINIMUM, Poly, Shape, Size, add, shape_text, size_text, substitute, symbols

LEAVES = ("input", "constant")


@dataclass(frozen=True, eq=False)
class Node:
    """One value: an input, a constant or the result of an operation on earlier nodes (their indices in `args`)."""

    op: str
    args: tuple[int, ...]
    shape: Shape
    attrs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    value: Array | None = None

    @property
    def subgraphs(self) -> tuple[Graph, ...]:
        """The condition and the body of a loop."""
        return tuple(value for value in self.attrs.values() if isinstance(value, Graph))

    def text(self) -> str:
        """`mul(%3, %4)`, without the result."""
        if self.op == "input":
            return f"input {self.name}"
        if self.value is not None:
            return f"constant {self.value.item()!r}" if self.value.ndim == 0 else "constant"
        parts = [f"%{arg}" for arg in self.args]
        parts += [f"{key}={attr_text(value)}" for key, value in self.attrs.items()]
        return f"{self.op}({', '.join(parts)})"


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced function. `nodes` are in execution order, `outputs` index them; `single` says that the function
    returned one value, not a tuple. Run it with `run(graph, inputs, bind)` or `codegen(graph)`."""

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    guards: tuple[Guard, ...] = ()
    single: bool = False

    def count(self) -> int:
        """Number of operations, those inside loops included; inputs and constants are not counted."""
        own = sum(node.op not in LEAVES for node in self.nodes)
        return own + sum(sub.count() for node in self.nodes for sub in node.subgraphs)

    @cached_property
    def inputs(self) -> dict[str, Shape]:
        """Name and shape of every input, in order."""
        return {node.name: node.shape for node in self.nodes if node.op == "input"}

    @property
    def output_shapes(self) -> tuple[Shape, ...]:
        """The shape of every output."""
        return tuple(self.nodes[index].shape for index in self.outputs)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that have to be bound at run time."""
        found: set[str] = set()
        for node in self.nodes:
            found.update(*(symbols(size) for size in node.shape), *(_attr_symbols(v) for v in node.attrs.values()))
        return tuple(sorted(found))

    def uses(self) -> list[int]:
        """How often each node is used, as an argument or as an output."""
        counts = [0] * len(self.nodes)
        for node in self.nodes:
            for arg in node.args:
                counts[arg] += 1
        for index in self.outputs:
            counts[index] += 1
        return counts

    def flops(self) -> Size:
        """Floating-point operations of one run, as a size: an int, or a polynomial in the symbols. A loop counts as
        none: how often it turns depends on the data."""
        total: Size = 0
        for node in self.nodes:
            if node.op not in LEAVES:
                shapes = tuple(self.nodes[arg].shape for arg in node.args)
                total = add(total, OPS[node.op].cost(shapes, node.shape))
        return total

    def specialized(self, bind: Mapping[str, int]) -> Graph:
        """The same graph for given values of some symbols, each at least 2: what was proven for all of them holds."""
        low = [symbol for symbol, size in bind.items() if size < SYMBOL_MINIMUM]
        if low:
            raise ValueError(
                f"{low[0]} is {bind[low[0]]}: a graph with symbolic sizes is proven from {SYMBOL_MINIMUM} on"
            )
        nodes = tuple(_specialized(node, bind) for node in self.nodes)
        guards = [Guard(g.subject, g.relation, substitute(g.bound, bind)) for g in self.guards if g.subject not in bind]
        return Graph(nodes, self.outputs, unique(guards), self.single)

    def __str__(self) -> str:
        lines = [f"%{i} = {node.text()} : {shape_text(node.shape)}" for i, node in enumerate(self.nodes)]
        lines.append("return " + ", ".join(f"%{index}" for index in self.outputs))
        lines += [f"guard {guard}" for guard in self.guards]
        return "\n".join(lines)

    def to_dot(self) -> str:
        """Graphviz source of the drawing, for `dot -Tsvg`."""
        from course_lib.graph.draw import dot_text

        return dot_text(self)

    def draw(self, path: str | Path) -> None:
        """Draw into `path` (.svg, .png or .pdf); needs matplotlib (the `figures` extra)."""
        from course_lib.graph.draw import draw

        draw(self, Path(path))


def attr_text(value: Any) -> str:
    """An attribute as source text; sizes in tuples and symbols without quotes."""
    if isinstance(value, Graph):
        return f"<{value.count()} operations>"
    if isinstance(value, tuple):
        return shape_text(value)
    return size_text(value) if isinstance(value, str | Poly) else repr(value)


def _attr_symbols(value: Any) -> set[str]:
    if isinstance(value, Graph):
        return set(value.symbols)
    sizes = value if isinstance(value, tuple) else (value,)
    return set().union(*(symbols(size) for size in sizes if isinstance(size, str | Poly)))


def _specialized(node: Node, bind: Mapping[str, int]) -> Node:
    shape = tuple(substitute(size, bind) for size in node.shape)
    if shape == node.shape and not any(isinstance(value, Graph | tuple | str | Poly) for value in node.attrs.values()):
        return node
    attrs = {name: _specialized_attr(value, bind) for name, value in node.attrs.items()}
    return Node(node.op, node.args, shape, attrs, node.name, node.value)


def _specialized_attr(value: Any, bind: Mapping[str, int]) -> Any:
    if isinstance(value, tuple):
        return tuple(_specialized_attr(entry, bind) for entry in value)
    if isinstance(value, Graph):
        return value.specialized(bind)
    return substitute(value, bind) if isinstance(value, str | Poly) else value


class Builder:
    """Collects nodes; every `emit` runs the shape rule, so that no graph with an unproven shape can exist."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.guards: list[Guard] = []

    def input(self, name: str, shape: Shape) -> int:
        """A new input with its guards."""
        self.guards += input_guards(name, shape)
        return self.argument(name, shape)

    def argument(self, name: str, shape: Shape) -> int:
        """An input without guards: of the inside of a loop, where shapes are already proven."""
        return self._append(Node("input", (), shape, name=name))

    def constant(self, value: Array | float) -> int:
        """A new constant, kept as it is: do not change the array afterwards."""
        array = np.asarray(value, dtype=np.float64)
        return self._append(Node("constant", (), tuple(int(size) for size in array.shape), value=array))

    def emit(self, op: str, args: Sequence[int], **attrs: Any) -> int:
        """A new operation; ShapeError when its rule refuses the arguments."""
        entry = OPS[op]
        shapes = tuple(self.nodes[arg].shape for arg in args)
        shape = entry.shape(shapes, attrs)
        self.guards += entry.guards(shapes, attrs)
        return self._append(Node(op, tuple(args), shape, attrs))

    def copy(self, node: Node, args: Sequence[int]) -> int:
        """`node` of another graph on `args` of this one."""
        if node.op in LEAVES:
            return self._append(node)
        return self.emit(node.op, args, **node.attrs)

    def shape(self, index: int) -> Shape:
        """The shape of a node."""
        return self.nodes[index].shape

    def constant_value(self, index: int) -> Array | None:
        """The value of a node that is a constant, else None."""
        return self.nodes[index].value

    def graph(self, outputs: Sequence[int], *, single: bool = False, guards: Sequence[Guard] = ()) -> Graph:
        """The finished graph; unreachable nodes are left out, inputs are kept."""
        alive = _reachable(self.nodes, outputs)
        place = {index: new for new, index in enumerate(alive)}
        nodes = tuple(_moved(self.nodes[index], place) for index in alive)
        kept = unique([*guards, *self.guards])
        return Graph(nodes, tuple(place[index] for index in outputs), kept, single)

    def _append(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


def _reachable(nodes: Sequence[Node], outputs: Sequence[int]) -> list[int]:
    alive = set(outputs) | {index for index, node in enumerate(nodes) if node.op == "input"}
    for index in reversed(range(len(nodes))):
        if index in alive:
            alive.update(nodes[index].args)
    return sorted(alive)


def _moved(node: Node, place: Mapping[int, int]) -> Node:
    args = tuple(place[arg] for arg in node.args)
    return Node(node.op, args, node.shape, node.attrs, node.name, node.value)
