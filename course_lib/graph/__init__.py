"""A small tensor compiler in numpy: trace, optimise, interpret, generate code, with shapes that may be symbols."""

from __future__ import annotations

from course_lib.graph import functional as F
from course_lib.graph.codegen import codegen
from course_lib.graph.decode import LayerConfig, decode_layer, layer_params, layer_shapes, rope_tables
from course_lib.graph.graph import Graph, Node
from course_lib.graph.guards import Guard, GuardError
from course_lib.graph.interpret import run
from course_lib.graph.lazy import LazyArray, LazyRunner
from course_lib.graph.ops import OPS
from course_lib.graph.passes import (
    PASSES,
    PassRecord,
    constant_fold,
    cse,
    decompose,
    fold_norm_weight,
    optimize,
    simplify,
)
from course_lib.graph.shapes import ShapeError
from course_lib.graph.trace import trace

while_loop = F.while_loop

__all__ = [
    "OPS",
    "PASSES",
    "F",
    "Graph",
    "Guard",
    "GuardError",
    "LayerConfig",
    "LazyArray",
    "LazyRunner",
    "Node",
    "PassRecord",
    "ShapeError",
    "codegen",
    "constant_fold",
    "cse",
    "decode_layer",
    "decompose",
    "fold_norm_weight",
    "layer_params",
    "layer_shapes",
    "optimize",
    "rope_tables",
    "run",
    "simplify",
    "trace",
    "while_loop",
]
