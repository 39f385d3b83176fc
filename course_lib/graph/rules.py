"""Shape rules: from the shapes of the arguments to the shape of the result, symbols included, or a ShapeError."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from course_lib.graph.shapes import (
    Shape,
    ShapeError,
    Size,
    add,
    broadcast,
    divide,
    minimum,
    mismatch,
    numel,
    shape_text,
    size_text,
)

Attrs: TypeAlias = Mapping[str, Any]
ShapeRule: TypeAlias = Callable[[tuple[Shape, ...], Attrs], Shape]


def same(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """Elementwise in one argument."""
    return shapes[0]


def elementwise(op: str) -> ShapeRule:
    """Broadcast all arguments against each other."""

    def rule(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
        result: Shape = ()
        for shape in shapes:
            result = broadcast(op, result, shape)
        return result

    return rule


def normalised_axis(op: str, shape: Shape, axis: int) -> int:
    """`axis` counted from the front; ShapeError where the shape has no such axis."""
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"{op}: shape {shape_text(shape)} has no axis {axis}")
    return axis % len(shape)


def reduction(op: str) -> ShapeRule:
    """Sum, mean and max over one axis, or over all of them (axis None)."""

    def rule(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
        (shape,) = shapes
        axis = attrs["axis"]
        over = range(len(shape)) if axis is None else [normalised_axis(op, shape, axis)]
        if op != "sum" and any(minimum(shape[i]) == 0 for i in over):
            raise ShapeError(f"{op}: shape {shape_text(shape)} has nothing to reduce along axis {axis}")
        if attrs["keepdims"]:
            return tuple(1 if i in over else size for i, size in enumerate(shape))
        return tuple(size for i, size in enumerate(shape) if i not in over)

    return rule


def along_axis(op: str) -> ShapeRule:
    """The shape does not change, the axis has to exist."""

    def rule(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
        normalised_axis(op, shapes[0], attrs["axis"])
        return shapes[0]

    return rule


def matmul(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """(..., n, k) @ (..., k, m) with broadcast leading axes."""
    a, b = shapes
    if len(a) < 2 or len(b) < 2:
        raise mismatch("matmul", a, b, "both need at least two axes")
    if a[-1] != b[-2]:
        raise mismatch("matmul", a, b, f"inner size {size_text(a[-1])} is not provably {size_text(b[-2])}")
    try:
        batch = broadcast("matmul", a[:-2], b[:-2])
    except ShapeError as error:
        raise mismatch("matmul", a, b, "the leading axes do not broadcast") from error
    return (*batch, a[-2], b[-1])


def transpose(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """Axes in the order `axes`."""
    (shape,) = shapes
    axes = attrs["axes"]
    if sorted(axes) != list(range(len(shape))):
        raise ShapeError(f"transpose: axes {axes} are no order of the axes of shape {shape_text(shape)}")
    return tuple(shape[axis] for axis in axes)


def reshape(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """The same elements in another shape; the equality of both numbers has to be provable."""
    (shape,) = shapes
    wanted: Shape = attrs["shape"]
    if numel(shape) != numel(wanted):
        why = f"{size_text(numel(shape))} elements are not provably {size_text(numel(wanted))}"
        raise mismatch("reshape", shape, wanted, why)
    return wanted


def solved_reshape(shape: Shape, wanted: tuple[Any, ...]) -> tuple[Any, ...]:
    """`wanted` with its one -1 replaced by the size that makes the number of elements equal."""
    if not any(size == -1 for size in wanted):
        return wanted
    known = [size for size in wanted if size != -1]
    missing = divide(numel(shape), numel(known)) if len(known) == len(wanted) - 1 and numel(known) != 0 else None
    if missing is None:
        raise ShapeError(f"reshape: the -1 in {wanted} cannot be solved for shape {shape_text(shape)}")
    return tuple(missing if size == -1 else size for size in wanted)


def broadcast_to(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """Repeat axes of size 1 until the shape is `shape`."""
    (shape,) = shapes
    wanted: Shape = attrs["shape"]
    if broadcast("broadcast_to", shape, wanted) != wanted:
        raise mismatch("broadcast_to", shape, wanted, "the result would be larger than asked for")
    return wanted


def concat(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """Joined along `axis`, whose sizes add up; every other size has to be provably equal."""
    first = shapes[0]
    axis = normalised_axis("concat", first, attrs["axis"])
    total: Size = first[axis]
    for shape in shapes[1:]:
        if len(shape) != len(first) or any(p != q for i, (p, q) in enumerate(zip(first, shape)) if i != axis):
            raise mismatch("concat", first, shape, f"sizes outside axis {axis} are not provably equal")
        total = add(total, shape[axis])
    return (*first[:axis], total, *first[axis + 1 :])


def cut(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """start:stop of one axis, 0 <= start <= stop <= size, provably."""
    (shape,) = shapes
    axis = normalised_axis("slice", shape, attrs["axis"])
    start, stop = attrs["start"], attrs["stop"]
    lowest = minimum(shape[axis])
    if not 0 <= start <= stop or lowest is None or (stop > lowest and stop != shape[axis]):
        raise ShapeError(f"slice: {start}:{stop} is not provably inside axis {axis} of shape {shape_text(shape)}")
    return (*shape[:axis], stop - start, *shape[axis + 1 :])


def rms_norm(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """x (..., d) with a weight (d,)."""
    x, weight = shapes
    if not x or len(weight) != 1 or weight[0] != x[-1]:
        raise mismatch("rms_norm", x, weight, "the weight needs the size of the last axis")
    return x


def rope(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """x (..., d), d even, cos and sin broadcast to it."""
    x, cos, sin = shapes
    if not x or not isinstance(x[-1], int) or x[-1] % 2:
        raise ShapeError(f"rope: shape {shape_text(x)} needs a last axis of even size")
    for table in (cos, sin):
        if broadcast("rope", x, table) != x:
            raise mismatch("rope", x, table, "the table is larger than what it rotates")
    return x


def cache_write(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """cache (H, S, D), new (H, 1, D), at a position in 0 .. S - 1."""
    cache, new = shapes
    if len(cache) != 3 or len(new) != 3 or new[1] != 1 or cache[0] != new[0] or cache[2] != new[2]:
        raise mismatch("cache_write", cache, new, "the new entry is (H, 1, D) for a cache (H, S, D)")
    position, length = attrs["position"], cache[1]
    if isinstance(position, int) and (position < 0 or (isinstance(length, int) and position >= length)):
        raise ShapeError(f"cache_write: position {position} is outside a cache of shape {shape_text(cache)}")
    return cache


def item(shapes: tuple[Shape, ...], attrs: Attrs) -> Shape:
    """One result of a loop; the tracer proved its shape."""
    shape: Shape = attrs["shape"]
    return shape
