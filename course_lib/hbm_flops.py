"""FLOPs of one dispatched torch operation: matrix and vector products in all their spellings.

torch.utils.flop_counter knows mm, bmm, addmm, baddbmm, convolutions and fused attention. Here in-place and out=
variants, vector products and the CPU's fused attention count as well, so that no spelling of a product is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple

import torch
from torch.utils.flop_counter import flop_registry

Shapes = Sequence[tuple[int, ...]]


def _product(shapes: Shapes) -> int:
    """(..., m, k) times (..., k, n) or (k,): 2 m n k per matrix of the batch."""
    a, b = shapes[-2:]
    return 2 * prod(a) * (b[-1] if len(b) > 1 else 1)


def _outer(shapes: Shapes) -> int:
    return 2 * prod(shapes[-2]) * prod(shapes[-1])


def _attention(shapes: Shapes) -> int:
    """Q (..., n, d), K (..., m, d), V (..., m, e): both products over all pairs, masked or not."""
    q, k, v = shapes[:3]
    return 2 * prod(q[:-1]) * k[-2] * (q[-1] + v[-1])


def _attention_backward(shapes: Shapes) -> int:
    """Inputs (grad, Q, K, V, ...): the scores once more and four products for the gradients."""
    _, q, k, v = shapes[:4]
    return 2 * prod(q[:-1]) * k[-2] * (3 * q[-1] + 2 * v[-1])


def _distances(shapes: Shapes) -> int:
    a, b = shapes[:2]
    return 2 * prod(a) * b[-2]


def _bilinear(shapes: Shapes) -> int:
    return 2 * prod(max(sizes) for sizes in zip(*shapes[:3])) if len({len(s) for s in shapes[:3]}) == 1 else 0


FORMULAS: dict[str, Callable[[Shapes], int]] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "vdot", "_int_mm", "_sparse_mm"), _product),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv", "_addmm_activation"), _product),
    **dict.fromkeys(("addr", "ger"), _outer),
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "_cdist_forward": _distances,
    "_trilinear": _bilinear,
}


class Operation(NamedTuple):
    """What the meter needs to know about an operation, whichever overload: `aten::addmm_` and `addmm.out` are addmm."""

    name: str
    is_view: bool
    decomposes: bool
    """Made of smaller operations that torch can show one by one (seen as a whole under inference_mode only)."""
    product: Callable[..., int] | None
    """FLOPs from (args, kwargs, result), 2 per multiply-add; None for what is not a product."""


@cache
def describe(func: Any) -> Operation:
    name = func._schema.name.split("::")[-1]
    rule = FORMULAS.get(name if name.endswith("__") else name.removesuffix("_"))
    registered = flop_registry.get(func.overloadpacket)
    product: Callable[..., int] | None = None
    if rule is not None:
        product = partial(_by_shapes, rule)
    elif registered is not None:
        product = partial(_by_registry, registered)
    composite = torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
    return Operation(name, func.is_view, product is None and composite, product)


def _by_shapes(rule: Callable[[Shapes], int], args: Any, kwargs: Any, out: Any) -> int:
    return rule([tuple(arg.shape) for arg in args if isinstance(arg, torch.Tensor)])


def _by_registry(registered: Callable[..., Any], args: Any, kwargs: Any, out: Any) -> int:
    return int(registered(*args, **kwargs, out_val=out))
