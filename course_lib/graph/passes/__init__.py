"""The optimiser: passes from a graph to a smaller one with the same values, and the loop that runs them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from course_lib.graph.graph import Graph
from course_lib.graph.passes.constant_fold import constant_fold
from course_lib.graph.passes.cse import cse
from course_lib.graph.passes.decompose import decompose
from course_lib.graph.passes.fold_norm_weight import fold_norm_weight
from course_lib.graph.passes.simplify import simplify

__all__ = ["PASSES", "PassRecord", "constant_fold", "cse", "decompose", "fold_norm_weight", "optimize", "simplify"]

PASSES: tuple[Callable[[Graph], tuple[Graph, bool]], ...] = (decompose, cse, constant_fold, simplify, fold_norm_weight)


@dataclass(frozen=True)
class PassRecord:
    """One run of one pass: operations before and after it, and whether it changed the graph."""

    name: str
    before: int
    after: int
    changed: bool


def optimize(graph: Graph) -> tuple[Graph, list[PassRecord]]:
    """All passes, in order, again and again until none changes anything; the record of every run, the last round (in
    which nothing happens) included."""
    records: list[PassRecord] = []
    changed = True
    while changed:
        changed = False
        for one in PASSES:
            smaller, did = one(graph)
            records.append(PassRecord(one.__name__, graph.count(), smaller.count(), did))
            graph, changed = smaller, changed or did
    return graph, records
