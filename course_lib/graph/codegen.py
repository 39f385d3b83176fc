"""Turn a graph into straight-line numpy source: no dispatch, the same bits as the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from course_lib.graph.graph import Graph, Node, attr_text
from course_lib.graph.interpret import check
from course_lib.graph.kernels import Array
from course_lib.graph.ops import NAMESPACE, OPS
from course_lib.graph.shapes import shape_text


def codegen(graph: Graph) -> tuple[str, Callable[..., Any]]:
    """(source, callable): `callable(inputs, bind)` does what `run(graph, inputs, bind)` does, errors included."""
    source, compiled = generate(graph)

    def checked(inputs: Mapping[str, Array], bind: Mapping[str, int] | None = None) -> Any:
        bound = dict(bind or {})
        check(graph, inputs, bound)
        with np.errstate(all="ignore"):
            return compiled(inputs, bound)

    return source, checked


def generate(graph: Graph) -> tuple[str, Callable[..., Any]]:
    """(source, function of (inputs, bind)) that checks nothing."""
    constants: dict[str, Array] = {}
    symbols = [f'    {symbol} = bind["{symbol}"]' for symbol in graph.symbols]
    names = {i: f"inputs[{node.name!r}]" for i, node in enumerate(graph.nodes) if node.op == "input"}
    body = _body(graph, names, constants, "")
    source = "\n".join(["def compiled(inputs, bind):", *symbols, *(f"    {line}" for line in body)]) + "\n"
    scope: dict[str, Any] = {**NAMESPACE, **constants}
    exec(compile(source, "<generated>", "exec"), scope)
    compiled: Callable[..., Any] = scope["compiled"]
    return source, compiled


def _body(graph: Graph, names: dict[int, str], constants: dict[str, Array], prefix: str) -> list[str]:
    lines: list[str] = []
    for index, node in enumerate(graph.nodes):
        name = f"{prefix}v{index}"
        if node.value is not None:
            name = f"{prefix}c{index}"
            constants[name] = node.value
        elif node.op == "input":
            lines.append(f"{name} = {names[index]}")
        else:
            lines += _statement(name, node, names, constants)
        names[index] = name
    results = ", ".join(names[index] for index in graph.outputs)
    return [*lines, f"return {results}" if graph.single else f"return ({results},)"]


def _statement(name: str, node: Node, names: Mapping[int, str], constants: dict[str, Array]) -> list[str]:
    arguments = [names[arg] for arg in node.args]
    lines: list[str] = []
    attrs: dict[str, str] = {}
    for key, attr in node.attrs.items():
        attrs[key] = f"{name}_{key}" if isinstance(attr, Graph) else attr_text(attr)
        if isinstance(attr, Graph):
            lines += _function(attrs[key], attr, constants)
    expression = OPS[node.op].expression.format(*arguments, args=", ".join(arguments), **attrs)
    return [*lines, f"{name} = {expression}  # {shape_text(node.shape)}"]


def _function(name: str, graph: Graph, constants: dict[str, Array]) -> list[str]:
    parameters = [f"{name}_a{i}" for i in range(len(graph.inputs))]
    inputs = [i for i, node in enumerate(graph.nodes) if node.op == "input"]
    body = _body(graph, dict(zip(inputs, parameters, strict=True)), constants, f"{name}_")
    return [f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in body)]
