"""Arithmetic on `tile.numpy()`: an array that tells the meter about matrix products made with numpy.

Arrays made from it by numpy's functions are followed as well; `numpy.asarray(tile)` and `tile.tolist()` are not, which
is why the meter then calls its own view of the arithmetic incomplete.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Count = Callable[[int, int], None]
"""Called with the FLOPs of a product and the elements of any other result."""


class TileArray(np.ndarray[Any, Any]):
    """A numpy array whose products are counted while the kernel that made it runs."""

    _count: Count | None = None

    def __array_finalize__(self, source: Any) -> None:
        self._count = getattr(source, "_count", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        count = _counter((*inputs, *kwargs.get("out", ())))
        plain = [_plain(value) for value in inputs]
        if kwargs.get("out"):
            kwargs["out"] = tuple(_plain(value) for value in kwargs["out"])
        result = getattr(ufunc, method)(*plain, **kwargs)
        products = 0
        if ufunc.signature is not None:  # matmul, vecdot: sums of products
            a, b = (np.shape(value) for value in plain[:2])
            products = 2 * prod(np.shape(result)) * (b[-2] if ufunc is np.matmul and len(b) > 1 else a[-1])
        return _counted(result, products, count)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        count = _counter(args)
        plain = [_plain(value) for value in args]
        result = func(*plain, **{key: _plain(value) for key, value in kwargs.items()})
        return _counted(result, _products(func, plain, result), count)


def counted_array(array: NDArray[Any], count: Count) -> TileArray:
    """`array` (not copied), reporting to `count`."""
    view = array.view(TileArray)
    view._count = count
    return view


def _products(func: Any, args: list[Any], result: Any) -> int:
    if func in (np.dot, np.inner, np.vdot, np.tensordot):
        a, b = (int(np.size(value)) for value in args[:2])
        made: int = max(prod(np.shape(result)), 1)
        # Each operand has the summed extent once: (m k)(k n) / (m n) = k^2.
        summed: float = sqrt(a * b / made)
        return 2 * made * round(summed)
    if func is np.einsum and isinstance(args[0], str):
        terms = args[0].replace(" ", "").split("->")[0].split(",")
        sizes = {label: n for term, value in zip(terms, args[1:]) for label, n in zip(term, np.shape(value))}
        return 2 * prod(map(int, sizes.values())) if len(terms) > 1 else 0
    return 0


def _counter(values: Any) -> Count | None:
    for value in values:
        if isinstance(value, TileArray):
            return value._count
        if isinstance(value, (list, tuple)) and (found := _counter(value)) is not None:
            return found
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, TileArray):
        return value.view(np.ndarray)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _counted(result: Any, products: int, count: Count | None) -> Any:
    if count is None:
        return result
    if isinstance(result, tuple):
        return tuple(_counted(item, 0, count) for item in result)
    if isinstance(result, (np.ndarray, np.number)):
        count(products, result.size)
    return counted_array(result, count) if isinstance(result, np.ndarray) else result
