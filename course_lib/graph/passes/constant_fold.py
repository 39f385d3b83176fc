"""Operations on constants alone are computed once, at compile time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.graph.graph import LEAVES, Builder, Graph, Node
from course_lib.graph.ops import OPS
from course_lib.graph.passes.rewrite import Rule, rewrite
from course_lib.graph.shapes import Poly


def constant_fold(graph: Graph) -> tuple[Graph, bool]:
    """Replace operations whose arguments are constants (and whose attributes hold no symbol) by their result."""
    return rewrite(graph, _rule)


def _rule(graph: Graph) -> Rule:
    def rule(builder: Builder, index: int, node: Node, args: Sequence[int]) -> int | None:
        if node.op in LEAVES or node.subgraphs or node.op == "item" or _symbolic(node):
            return None
        values = [value for value in map(builder.constant_value, args) if value is not None]
        if len(values) != len(args):
            return None
        with np.errstate(all="ignore"):
            return builder.constant(np.ascontiguousarray(OPS[node.op].compute(values, dict(node.attrs))))

    return rule


def _symbolic(node: Node) -> bool:
    sizes = [size for value in node.attrs.values() for size in (value if isinstance(value, tuple) else (value,))]
    return any(isinstance(size, str | Poly) for size in sizes)
