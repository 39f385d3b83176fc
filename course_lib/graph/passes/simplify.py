"""Operations that do nothing, or that two of them do at once; dead code goes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.graph.graph import Builder, Graph, Node
from course_lib.graph.passes.rewrite import Rule, rewrite


def simplify(graph: Graph) -> tuple[Graph, bool]:
    """x * 1, x / 1, x + 0, x - 0, --x; transposes of transposes, reshapes of reshapes, transposes that only move axes
    of size 1 (reshapes), slices and broadcasts of everything; and whatever no output depends on."""
    return rewrite(graph, _rule)


def _rule(graph: Graph) -> Rule:
    def rule(builder: Builder, index: int, node: Node, args: Sequence[int]) -> int | None:
        for simpler in _RULES.get(node.op, ()):
            new = simpler(builder, node, args)
            if new is not None:
                return new
        return None

    return rule


def _neutral(value: float, sides: Sequence[int]) -> Callable[[Builder, Node, Sequence[int]], int | None]:
    """`x op value` is x, for a constant on one of `sides` that does not make the result larger than x."""

    def rule(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
        for side in sides:
            constant = builder.constant_value(args[side])
            other = args[1 - side]
            if constant is not None and builder.shape(other) == node.shape and np.all(constant == value):
                return other
        return None

    return rule


def _double_negation(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
    inner = builder.nodes[args[0]]
    return inner.args[0] if inner.op == "neg" else None


def _unchanged(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
    """A reshape, broadcast, slice or concat of one part that leaves the shape as it is."""
    return args[0] if len(args) == 1 and builder.shape(args[0]) == node.shape else None


def _reshape_of_reshape(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
    inner = builder.nodes[args[0]]
    return builder.emit("reshape", inner.args, **node.attrs) if inner.op == "reshape" else None


def _identity_transpose(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
    axes = node.attrs["axes"]
    return args[0] if axes == tuple(range(len(axes))) else None


def _transpose_of_transpose(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
    inner = builder.nodes[args[0]]
    if inner.op != "transpose":
        return None
    axes = tuple(inner.attrs["axes"][axis] for axis in node.attrs["axes"])
    return builder.emit("transpose", inner.args, axes=axes)


def _transpose_of_ones(builder: Builder, node: Node, args: Sequence[int]) -> int | None:
    """Where the axes that are larger than 1 keep their order, the elements do too: a reshape is enough."""
    shape = builder.shape(args[0])
    moved = [axis for axis in node.attrs["axes"] if shape[axis] != 1]
    return builder.emit("reshape", args, shape=node.shape) if moved == sorted(moved) else None


_RULES: dict[str, tuple[Callable[[Builder, Node, Sequence[int]], int | None], ...]] = {
    "mul": (_neutral(1.0, (0, 1)),),
    "div": (_neutral(1.0, (1,)),),
    "add": (_neutral(0.0, (0, 1)),),
    "sub": (_neutral(0.0, (1,)),),
    "neg": (_double_negation,),
    "reshape": (_unchanged, _reshape_of_reshape),
    "broadcast_to": (_unchanged,),
    "slice": (_unchanged,),
    "concat": (_unchanged,),
    "transpose": (_identity_transpose, _transpose_of_transpose, _transpose_of_ones),
}
