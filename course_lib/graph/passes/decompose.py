"""softmax, RMSNorm, SiLU and RoPE taken apart, so that the other passes see what is inside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.graph.graph import Builder, Graph, Node
from course_lib.graph.passes.rewrite import Rule, rewrite
from course_lib.graph.rules import Attrs


def decompose(graph: Graph) -> tuple[Graph, bool]:
    """Replace composite operations by primitive ones; the only pass that may grow the graph."""
    return rewrite(graph, _rule)


def _rule(graph: Graph) -> Rule:
    def rule(builder: Builder, index: int, node: Node, args: Sequence[int]) -> int | None:
        expand = _EXPANSIONS.get(node.op)
        return None if expand is None else expand(builder, args, node.attrs)

    return rule


def _softmax(b: Builder, args: Sequence[int], attrs: Attrs) -> int:
    (x,) = args
    axis = attrs["axis"]
    e = b.emit("exp", [b.emit("sub", [x, b.emit("max", [x], axis=axis, keepdims=True)])])
    return b.emit("div", [e, b.emit("sum", [e], axis=axis, keepdims=True)])


def _rms_norm(b: Builder, args: Sequence[int], attrs: Attrs) -> int:
    x, weight = args
    mean = b.emit("mean", [b.emit("mul", [x, x])], axis=-1, keepdims=True)
    scale = b.emit("rsqrt", [b.emit("add", [mean, b.constant(attrs["eps"])])])
    return b.emit("mul", [b.emit("mul", [x, scale]), weight])


def _silu(b: Builder, args: Sequence[int], attrs: Attrs) -> int:
    (x,) = args
    return b.emit("div", [x, b.emit("add", [b.constant(1.0), b.emit("exp", [b.emit("neg", [x])])])])


def _rope(b: Builder, args: Sequence[int], attrs: Attrs) -> int:
    x, cos, sin = args
    shape = b.shape(x)
    axis, width = len(shape) - 1, shape[-1]
    assert isinstance(width, int)  # the shape rule of rope refuses a symbolic width
    low = b.emit("slice", [x], axis=axis, start=0, stop=width // 2)
    high = b.emit("slice", [x], axis=axis, start=width // 2, stop=width)
    rotated = b.emit("concat", [b.emit("neg", [high]), low], axis=-1)
    return b.emit("add", [b.emit("mul", [x, cos]), b.emit("mul", [rotated, sin])])


_EXPANSIONS: dict[str, Callable[[Builder, Sequence[int], Attrs], int]] = {
    "softmax": _softmax,
    "rms_norm": _rms_norm,
    "silu": _silu,
    "rope": _rope,
}
