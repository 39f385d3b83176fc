"""Drawings of a graph: Graphviz source written here, pictures through matplotlib.

matplotlib is an optional extra that the demos need anyway; rendering through Graphviz would ask every student for its
`dot` program. Nodes are layered by depth, which is enough for graphs of some fifty operations.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from course_lib.graph.graph import Graph, Node
from course_lib.graph.shapes import shape_text

COLOURS = {
    "input": "#dbe9f6",
    "constant": "#eeeeee",
    "matmul": "#f9d9b0",
    "cache_write": "#d9ead3",
    "output": "#b02020",
}


def dot_text(graph: Graph) -> str:
    """Graphviz source: inputs and operations as boxes, constants left out, outputs with a bold frame."""
    lines = ["digraph graph_lab {", '  node [shape=box, style=filled, fontname="Helvetica"];']
    for index, node in _drawn(graph):
        frame = f', color="{COLOURS["output"]}", penwidth=2' if index in graph.outputs else ""
        label = f"{_title(node)}\\n{shape_text(node.shape)}"
        lines.append(f'  n{index} [label="{label}", fillcolor="{_colour(node)}"{frame}];')
    for index, node in _drawn(graph):
        lines += [f"  n{arg} -> n{index};" for arg in node.args if graph.nodes[arg].op != "constant"]
    return "\n".join([*lines, "}"]) + "\n"


def draw(graph: Graph, path: Path) -> None:
    """Write a picture of the graph; the suffix of `path` says the format."""
    from matplotlib.figure import Figure

    places = _places(graph)
    height = 1.0 + max(y for _, y in places.values())
    width = 1.0 + max(x for x, _ in places.values()) - min(x for x, _ in places.values())
    figure = Figure(figsize=(max(4.0, 1.5 * width), max(3.0, 0.55 * height)))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    for index, node in _drawn(graph):
        for arg in node.args:
            if arg in places:
                _arrow(axes, places[arg], places[index])
    for index, node in _drawn(graph):
        _box(axes, places[index], node, output=index in graph.outputs)
    axes.set_ylim(height - 0.3, -0.7)
    axes.set_xlim(min(x for x, _ in places.values()) - 0.6, max(x for x, _ in places.values()) + 0.6)
    axes.axis("off")
    figure.savefig(path, dpi=110)


def _drawn(graph: Graph) -> list[tuple[int, Node]]:
    return [(index, node) for index, node in enumerate(graph.nodes) if node.op != "constant"]


def _title(node: Node) -> str:
    return node.name if node.op == "input" else node.op


def _colour(node: Node) -> str:
    return COLOURS.get(node.op, "#ffffff")


def _places(graph: Graph) -> dict[int, tuple[float, float]]:
    """Node -> (x, y): y is the length of the longest path to it, x keeps a row close to what it depends on."""
    depth: dict[int, int] = {}
    rows: dict[int, list[int]] = defaultdict(list)
    for index, node in _drawn(graph):
        depth[index] = max((depth[arg] + 1 for arg in node.args if arg in depth), default=0)
    _sink_inputs(graph, depth)
    for index, row in depth.items():
        rows[row].append(index)
    places: dict[int, tuple[float, float]] = {}
    for row in sorted(rows):
        wish = {index: _mean([places[a][0] for a in graph.nodes[index].args if a in places]) for index in rows[row]}
        ordered = sorted(rows[row], key=lambda index: wish[index])
        centre = _mean(list(wish.values()))
        for position, index in enumerate(ordered):
            places[index] = (centre + position - (len(ordered) - 1) / 2, float(row))
    return places


def _sink_inputs(graph: Graph, depth: dict[int, int]) -> None:
    """Move an input down to just above its first use."""
    for index, node in _drawn(graph):
        users = [depth[i] for i, other in _drawn(graph) if index in other.args]
        if node.op == "input" and users:
            depth[index] = min(users) - 1


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
    bend = 0.15 if end[1] - start[1] > 1 and abs(end[0] - start[0]) < 1 else 0.0  # around the boxes in between
    style = {"arrowstyle": "-|>", "color": "#888888", "lw": 0.8, "shrinkA": 6, "shrinkB": 9}
    style |= {"connectionstyle": f"arc3,rad={bend}"}
    axes.annotate("", xy=end, xytext=start, arrowprops=style)


def _box(axes: Any, place: tuple[float, float], node: Node, *, output: bool) -> None:
    edge = COLOURS["output"] if output else "#555555"
    frame = {"boxstyle": "round,pad=0.25", "facecolor": _colour(node), "edgecolor": edge, "lw": 1.6 if output else 0.7}
    text = f"{_title(node)} {shape_text(node.shape)}"
    axes.text(*place, text, ha="center", va="center", fontsize=7, bbox=frame)
