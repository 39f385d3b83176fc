"""Run a graph node by node, symbols bound at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.graph.graph import Graph
from course_lib.graph.guards import check_guards
from course_lib.graph.kernels import Array
from course_lib.graph.ops import OPS
from course_lib.graph.shapes import Poly, value


def run(graph: Graph, inputs: Mapping[str, Array], bind: Mapping[str, int] | None = None) -> Any:
    """The outputs for `inputs` (float64 arrays by name): one array, or a tuple as the traced function returned it.

    `bind` gives every symbol of the graph its value. GuardError when a shape or a symbol breaks a guard, ValueError for
    a missing or unknown input or an unbound symbol, TypeError for anything but float64 arrays.
    """
    bound = dict(bind or {})
    check(graph, inputs, bound)
    with np.errstate(all="ignore"):
        results = evaluate(graph, [inputs[name] for name in graph.inputs], bound)
    return results[0] if graph.single else results


def check(graph: Graph, inputs: Mapping[str, Array], bind: Mapping[str, int]) -> None:
    """What `run` and generated code check before the first operation."""
    wanted = graph.inputs
    for name in wanted:
        if name not in inputs:
            raise ValueError(f"input {name!r} is missing; the graph takes {', '.join(wanted)}")
    for name, array in inputs.items():
        if name not in wanted:
            raise ValueError(f"unknown input {name!r}; the graph takes {', '.join(wanted)}")
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise TypeError(f"input {name!r} has to be a numpy array of float64")
    for symbol in graph.symbols:
        if symbol not in bind:
            raise ValueError(f"symbol {symbol!r} is not bound: pass bind={{{symbol!r}: ...}}")
    check_guards(graph.guards, inputs, bind)


def evaluate(graph: Graph, arguments: Sequence[Array], bind: Mapping[str, int]) -> tuple[Array, ...]:
    """The outputs for `arguments` in the order of the inputs; nothing is checked."""
    given = iter(arguments)
    values: list[Any] = []
    for node in graph.nodes:
        if node.op == "input":
            values.append(next(given))
        elif node.value is not None:
            values.append(node.value)
        else:
            attrs = {name: _bound(attr, bind) for name, attr in node.attrs.items()}
            values.append(OPS[node.op].compute([values[arg] for arg in node.args], attrs))
    return tuple(values[index] for index in graph.outputs)


def _bound(attr: Any, bind: Mapping[str, int]) -> Any:
    if isinstance(attr, tuple):
        return tuple(_bound(entry, bind) for entry in attr)
    if isinstance(attr, str | Poly):
        return value(attr, bind)
    if isinstance(attr, Graph):
        return _function(attr, bind)
    return attr


def _function(graph: Graph, bind: Mapping[str, int]) -> Any:
    def call(*arguments: Array) -> Any:
        results = evaluate(graph, arguments, bind)
        return results[0] if graph.single else results

    return call
