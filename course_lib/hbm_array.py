"""Handles to arrays in slow memory: shape, dtype and slices, but no data."""

from __future__ import annotations

from math import prod
from operator import index as as_integer
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from course_lib._device import DeviceView
from course_lib.hbm_store import ArrayInfo, Bounds, plain, spell

if TYPE_CHECKING:
    from course_lib.hbm import HBM


class NotOnChip(TypeError, AttributeError):
    """An array in HBM was used as if it were a tensor. (An AttributeError as well, so that hasattr still works.)"""


class HBMArray(DeviceView):
    """An array, or a rectangular part of one, in an `HBM`.

    It knows its name, shape, dtype and how to be sliced: `Q[i:j]`, `S[a:b, c:d]`, slices of slices, with Python's
    rules for negative, open and overlong bounds. Steps other than 1 (ValueError) and integer indices (TypeError) are
    refused: `L[i:i+1]` is the one-element slice. Everything that would need the data raises TypeError; the data comes
    on chip with `hbm.read(Q[i:j])` only, and goes back with `hbm.write(O[i:j], tile)` only.
    """

    __slots__ = ("_bounds", "_hbm", "_info", "shape")

    shape: tuple[int, ...]
    """Sizes of this part."""

    def __init__(self, hbm: HBM, info: ArrayInfo, bounds: Bounds) -> None:
        self._hbm = hbm
        self._info = info
        self._bounds = bounds
        self.shape = tuple(stop - start for start, stop in bounds)

    @property
    def name(self) -> str:
        """The name of the array in the ledger; a slice has the name of its array."""
        return self._info.name

    @property
    def dtype(self) -> torch.dtype:
        return self._info.dtype

    @property
    def is_input(self) -> bool:
        """Whether it was uploaded for the kernel; inputs cannot be written."""
        return self._info.is_input

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"{self.name} has no dimensions, hence no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> HBMArray:
        keys = self._full_key(key if isinstance(key, tuple) else (key,))
        bounds = tuple(self._cut(part, edges) for part, edges in zip(keys, self._bounds))
        return HBMArray(self._hbm, self._info, bounds)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(f"{self.name} lives in HBM: write a tile with hbm.write({self.name}[i:j], tile)")

    def __eq__(self, other: object) -> bool:
        """Whether both are the same part of the same array; the data is not compared."""
        if not isinstance(other, HBMArray):
            return NotImplemented
        return self._hbm is other._hbm and self._info.id == other._info.id and self._bounds == other._bounds

    def __hash__(self) -> int:
        return hash((id(self._hbm), self._info.id, self._bounds))

    def __repr__(self) -> str:
        return f"<HBMArray {self} of {str(self.dtype).removeprefix('torch.')}, in HBM>"

    def __str__(self) -> str:
        return spell(self.name, self._bounds)

    def __getattr__(self, attribute: str) -> NoReturn:
        # Only reached for what a handle does not have: `.T`, `.sum()` and other habits from torch get the lesson.
        if not attribute.startswith("_") and hasattr(torch.Tensor, attribute):
            raise NotOnChip(self._lesson())
        raise AttributeError(f"'HBMArray' object has no attribute {attribute!r}")

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> NoReturn:
        handle = _first_handle((*args, *(kwargs or {}).values()))
        raise NotOnChip("data lives in HBM: read a tile with hbm.read" if handle is None else handle._lesson())

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotOnChip(self._lesson())

    __array_function__ = __array_ufunc__

    @property
    def _device(self) -> HBM:
        return self._hbm

    def _state(self) -> list[Any]:
        return [self._info.id, plain(self._bounds)]

    def _size(self) -> int:
        return prod(self.shape)

    def _lesson(self) -> str:
        example = ", ".join(["i:j", *[":"] * (self.ndim - 1)]) if self.ndim > 1 else "i:j"
        return f"{self.name} lives in HBM: read a tile with hbm.read({self.name}[{example.removesuffix(', :')}])"

    def _full_key(self, keys: tuple[Any, ...]) -> tuple[Any, ...]:
        """`keys` with an ellipsis and missing trailing dimensions filled in."""
        dots = [i for i, key in enumerate(keys) if key is Ellipsis]
        given = len(keys) - len(dots)
        if len(dots) > 1 or given > self.ndim:
            raise IndexError(f"{self.name} has {self.ndim} dimensions, {given} slices were given")
        at = dots[0] if dots else len(keys)
        return (*keys[:at], *[slice(None)] * (self.ndim - given), *keys[at + 1 :])

    def _cut(self, key: slice | EllipsisType | Any, edges: tuple[int, int]) -> tuple[int, int]:
        if not isinstance(key, slice):
            raise TypeError(f"{self.name} takes slices only: {self.name}[i:i+1] instead of an index or a mask")
        if key.step is not None and as_integer(key.step) != 1:
            raise ValueError(f"{self.name} is read in contiguous rows: slices have step 1")
        start, stop, _ = key.indices(edges[1] - edges[0])
        return edges[0] + start, edges[0] + max(start, stop)


def _first_handle(values: Any) -> HBMArray | None:
    for value in values:
        if isinstance(value, HBMArray):
            return value
        if isinstance(value, (list, tuple)) and (inner := _first_handle(value)) is not None:
            return inner
    return None


def _refuse(self: HBMArray, *_: Any) -> NoReturn:
    raise NotOnChip(self._lesson())


_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor"
_OTHER = "dlpack dlpack_device neg pos abs invert lt le gt ge iter contains bool float int complex index round array"


def _forbid(cls: type, names: str) -> None:
    for name in names.split():
        setattr(cls, f"__{name}__", _refuse)


for _side in ("", "r", "i"):
    _forbid(HBMArray, " ".join(_side + _op for _op in _BINARY.split(" ")))
_forbid(HBMArray, _OTHER)
