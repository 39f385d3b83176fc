"""(n * w) @ W is n @ (w[:, None] * W): a norm's weight costs nothing at run time once it is part of the next matmul."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.graph.graph import Builder, Graph, Node
from course_lib.graph.passes.rewrite import Rule, rewrite


def fold_norm_weight(graph: Graph) -> tuple[Graph, bool]:
    """Multiply a constant weight (d,) into the constant matrices (d, m) that follow, where nothing else needs the
    product and no matrix is shared; rounding moves by a few eps."""
    return rewrite(graph, _rule)


def _rule(graph: Graph) -> Rule:
    products = _foldable(graph)  # product node -> (position of n, index of w) among its arguments

    def rule(builder: Builder, index: int, node: Node, args: Sequence[int]) -> int | None:
        if index in products:
            return args[products[index]]
        if node.op != "matmul" or node.args[0] not in products:
            return None
        product = graph.nodes[node.args[0]]
        weight = graph.nodes[product.args[1 - products[node.args[0]]]].value
        matrix = graph.nodes[node.args[1]].value
        assert weight is not None  # `_foldable` chose products of constants
        assert matrix is not None
        return builder.emit("matmul", [args[0], builder.constant(weight.reshape(-1, 1) * matrix)])

    return rule


def _foldable(graph: Graph) -> dict[int, int]:
    """Products n * w all of whose uses are `product @ matrix` with a matrix of its own; which argument n is."""
    uses = graph.uses()
    found: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        if node.op != "mul" or index in graph.outputs:
            continue
        side = _side_of_n(graph, node)
        users = [other for other in graph.nodes if index in other.args]
        if side is not None and users and all(_absorbs(graph, index, user, uses) for user in users):
            found[index] = side
    return found


def _side_of_n(graph: Graph, node: Node) -> int | None:
    for side in (0, 1):
        n, w = (graph.nodes[arg] for arg in (node.args[side], node.args[1 - side]))
        if w.value is not None and n.value is None and len(w.shape) == 1 and n.shape == node.shape:
            return side if w.shape[0] == n.shape[-1] else None
    return None


def _absorbs(graph: Graph, product: int, user: Node, uses: Sequence[int]) -> bool:
    if user.op != "matmul" or user.args[0] != product or user.args[1] == product:
        return False
    matrix = graph.nodes[user.args[1]]
    return matrix.value is not None and len(matrix.shape) == 2 and uses[user.args[1]] == 1
