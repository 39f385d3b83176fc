"""Common subexpressions: what was computed once is not computed again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from course_lib.graph.graph import Builder, Graph, Node
from course_lib.graph.passes.rewrite import Rule, rewrite


def cse(graph: Graph) -> tuple[Graph, bool]:
    """Merge equal operations on equal arguments, and constants of equal bits."""
    return rewrite(graph, _rule)


def _rule(graph: Graph) -> Rule:
    seen: dict[Hashable, int] = {}

    def rule(builder: Builder, index: int, node: Node, args: Sequence[int]) -> int | None:
        following = len(builder.nodes)  # the index that a copy of this node will get
        earlier = seen.setdefault(_key(node, args), following)
        return None if earlier == following else earlier

    return rule


def _key(node: Node, args: Sequence[int]) -> Hashable:
    if node.value is not None:
        return ("constant", node.shape, node.value.tobytes())
    # repr tells 1 from True and from 1.0, which are equal as dictionary keys
    attrs = tuple((name, id(value) if isinstance(value, Graph) else repr(value)) for name, value in node.attrs.items())
    return (node.op, node.name, tuple(args), attrs)
