"""What students and graders import: metered devices, the graph lab, models and data.

Names are loaded on first use, so that `course_lib.Memory` alone does not import torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.accounting import FullScaleError as FullScaleError
    from course_lib.accounting import at_full_scale as at_full_scale
    from course_lib.accounting import weightless as weightless
    from course_lib.compiler import Compiler as Compiler
    from course_lib.graph import PASSES as PASSES
    from course_lib.graph import F as F
    from course_lib.graph import Graph as Graph
    from course_lib.graph import GuardError as GuardError
    from course_lib.graph import LayerConfig as LayerConfig
    from course_lib.graph import LazyRunner as LazyRunner
    from course_lib.graph import ShapeError as ShapeError
    from course_lib.graph import codegen as codegen
    from course_lib.graph import constant_fold as constant_fold
    from course_lib.graph import cse as cse
    from course_lib.graph import decode_layer as decode_layer
    from course_lib.graph import decompose as decompose
    from course_lib.graph import fold_norm_weight as fold_norm_weight
    from course_lib.graph import layer_params as layer_params
    from course_lib.graph import layer_shapes as layer_shapes
    from course_lib.graph import optimize as optimize
    from course_lib.graph import rope_tables as rope_tables
    from course_lib.graph import run as run
    from course_lib.graph import simplify as simplify
    from course_lib.graph import trace as trace
    from course_lib.graph import while_loop as while_loop
    from course_lib.hbm import HBM as HBM
    from course_lib.hbm_array import HBMArray as HBMArray
    from course_lib.hbm_store import Counts as Counts
    from course_lib.hbm_store import Event as Event
    from course_lib.memory import Memory as Memory
    from course_lib.memory_rows import Row as Row
    from course_lib.memory_rows import Verdict as Verdict
    from course_lib.meter import SRAMOverflow as SRAMOverflow
    from course_lib.models import Block as Block
    from course_lib.models import DropoutLanguageModel as DropoutLanguageModel
    from course_lib.models import FusedAttention as FusedAttention
    from course_lib.models import ManualAttention as ManualAttention
    from course_lib.models import TinyTransformer as TinyTransformer
    from course_lib.state import State as State
    from course_lib.text import PAD as PAD
    from course_lib.text import fingerprint as fingerprint
    from course_lib.text import make_data as make_data
    from course_lib.text import make_windows as make_windows
    from course_lib.text import samples as samples
    from course_lib.text import texts as texts
    from course_lib.text import vocabulary as vocabulary
    from course_lib.training import Data as Data
    from course_lib.training import Plan as Plan
    from course_lib.training import fresh as fresh
    from course_lib.training import make_optimizer as make_optimizer

_HOME = {
    "Compiler": "course_lib.compiler",
    "F": "course_lib.graph",
    "Graph": "course_lib.graph",
    "GuardError": "course_lib.graph",
    "LayerConfig": "course_lib.graph",
    "LazyRunner": "course_lib.graph",
    "PASSES": "course_lib.graph",
    "ShapeError": "course_lib.graph",
    "codegen": "course_lib.graph",
    "constant_fold": "course_lib.graph",
    "cse": "course_lib.graph",
    "decode_layer": "course_lib.graph",
    "decompose": "course_lib.graph",
    "fold_norm_weight": "course_lib.graph",
    "layer_params": "course_lib.graph",
    "layer_shapes": "course_lib.graph",
    "optimize": "course_lib.graph",
    "rope_tables": "course_lib.graph",
    "run": "course_lib.graph",
    "simplify": "course_lib.graph",
    "trace": "course_lib.graph",
    "while_loop": "course_lib.graph",
    "FullScaleError": "course_lib.accounting",
    "at_full_scale": "course_lib.accounting",
    "weightless": "course_lib.accounting",
    "Row": "course_lib.memory_rows",
    "Verdict": "course_lib.memory_rows",
    "HBM": "course_lib.hbm",
    "HBMArray": "course_lib.hbm_array",
    "Counts": "course_lib.hbm_store",
    "Event": "course_lib.hbm_store",
    "SRAMOverflow": "course_lib.meter",
    "make_optimizer": "course_lib.training",
    "fresh": "course_lib.training",
    "Plan": "course_lib.training",
    "Data": "course_lib.training",
    "vocabulary": "course_lib.text",
    "texts": "course_lib.text",
    "samples": "course_lib.text",
    "make_windows": "course_lib.text",
    "make_data": "course_lib.text",
    "fingerprint": "course_lib.text",
    "PAD": "course_lib.text",
    "TinyTransformer": "course_lib.models",
    "ManualAttention": "course_lib.models",
    "FusedAttention": "course_lib.models",
    "DropoutLanguageModel": "course_lib.models",
    "Block": "course_lib.models",
    "Memory": "course_lib.memory",
    "State": "course_lib.state",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'course_lib' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
