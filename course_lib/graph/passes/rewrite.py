"""How every pass works: copy the graph node by node, let a rule replace some, drop what nothing needs any more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from course_lib.graph.graph import Builder, Graph, Node

Rule: TypeAlias = Callable[[Builder, int, Node, Sequence[int]], int | None]
"""(builder of the new graph, index of the node in the old one, node, its arguments in the new one) -> the node of the
new graph that replaces it, or None to keep it."""


def rewrite(graph: Graph, rule_for: Callable[[Graph], Rule]) -> tuple[Graph, bool]:
    """The graph after one sweep of the rule that `rule_for(graph)` makes, loops included; and whether it changed."""
    rule = rule_for(graph)
    builder = Builder()
    place: list[int] = []
    changed = False
    for index, node in enumerate(graph.nodes):
        args = [place[arg] for arg in node.args]
        kept, inner_changed = _rewritten_inside(node, rule_for)
        new = rule(builder, index, kept, args)
        changed |= inner_changed or new is not None
        place.append(builder.copy(kept, args) if new is None else new)
    outputs = [place[index] for index in graph.outputs]
    result = builder.graph(outputs, single=graph.single, guards=graph.guards)
    return result, changed or len(result.nodes) != len(graph.nodes)


def _rewritten_inside(node: Node, rule_for: Callable[[Graph], Rule]) -> tuple[Node, bool]:
    if not node.subgraphs:
        return node, False
    attrs = dict(node.attrs)
    changed = False
    for key, value in node.attrs.items():
        if isinstance(value, Graph):
            attrs[key], inside = rewrite(value, rule_for)
            changed |= inside
    return Node(node.op, node.args, node.shape, attrs), changed
