"""Counted one-dimensional slow memory: every element is paid for with one `load` or one `store`."""

from __future__ import annotations

import struct
from itertools import count
from numbers import Real
from operator import index
from typing import Any, Literal, NoReturn, Self, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from course_lib._device import Device, Link, ProtocolViolation

__all__ = ["Memory", "contents", "joint_trace", "trace_of"]

Op = Literal["load", "store"]

TRACE_LIMIT = 100_000
"""Events kept in a trace. Counts go on beyond it; checks use far shorter runs."""

_DTYPES = ("float16", "float32", "float64")

_clock = count()

_FORMATS = {2: struct.Struct("<e"), 4: struct.Struct("<f"), 8: struct.Struct("<d")}
"""Binary16, 32 and 64 by their bytes."""


class Memory(Device):
    """Slow memory that holds a vector and counts its traffic.

    `values` is anything with one dimension of real numbers (list, array, tensor); it is copied and rounded to `dtype`,
    which may be a name, a numpy or a torch dtype: float16, float32 or float64.

    While you develop, the elements live in this object. While you are graded, they live in another process, and the
    object you are given only carries requests to it: `load` and `store` are the only way to an element, and the counts
    are kept where the elements are. Both kinds behave alike.

    The idea of counting element accesses: Milakov & Gimelshein 2018 (arXiv 1805.02867), section 2.
    """

    kind = "memory"

    def __init__(self, values: Any, dtype: Any) -> None:
        self._dtype = _float_dtype(dtype)
        self._back: _Local | _Remote = _Local(_vector(values, self._dtype))
        self._length = self._back.data.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy dtype of every element."""
        return self._dtype

    @property
    def loads(self) -> int:
        """Elements loaded so far."""
        return self._back.loads

    @property
    def stores(self) -> int:
        """Elements stored so far."""
        return self._back.stores

    def __len__(self) -> int:
        return self._length

    def load(self, i: SupportsIndex) -> Any:
        """Element `i` as a numpy scalar of this memory's dtype; counts one load.

        Raises IndexError unless 0 <= i < len(self), TypeError when `i` is not an integer.
        """
        return self._back.load(self._index(i))

    def store(self, i: SupportsIndex, v: Any) -> None:
        """Round the number `v` to this memory's dtype and keep it as element `i`; counts one store.

        `v` is a Python number, a numpy scalar, or an array or tensor without dimensions. What exceeds the range of the
        dtype becomes an infinity.

        Raises IndexError unless 0 <= i < len(self), TypeError when `i` is not an integer or `v` not one real number.
        """
        where = self._index(i)
        self._back.store(where, v if type(v) is self._dtype.type else _rounded(_number(v), self._dtype))

    def _index(self, i: SupportsIndex) -> int:
        if isinstance(i, (bool, np.bool_)):
            raise TypeError(f"a memory is indexed by integers, not by {i!r}")
        try:
            where = index(i)
        except TypeError:
            raise TypeError(f"a memory is indexed by integers, not by {type(i).__name__}: use int(i)") from None
        if not 0 <= where < self._length:
            raise IndexError(
                f"element {where} of a memory with {self._length} elements does not exist: "
                "indices are 0 <= i < len(x), counted from the front only"
            )
        return where

    # Whole-array access would be traffic that nobody counted: say how to pay for it.
    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("x is slow memory: read an element with x.load(i), write one with x.store(i, v)")

    __iter__ = _refuse
    __reversed__ = _refuse
    __contains__ = _refuse
    __getitem__ = _refuse
    __setitem__ = _refuse
    __array__ = _refuse
    __dlpack__ = _refuse
    __dlpack_device__ = _refuse
    __float__ = _refuse

    def __reduce_ex__(self, _: SupportsIndex) -> NoReturn:
        raise TypeError("x is slow memory: it cannot be copied or pickled, load the elements that you need")

    def __repr__(self) -> str:
        return f"<Memory of {self._length} x {self._dtype.name}>"

    def _outcome(self) -> list[Any]:
        """Contents, then the counts: for telling two programs apart."""
        return [contents(self), self.loads, self.stores]

    def _describe(self) -> dict[str, Any]:
        return {"length": self._length, "dtype": self._dtype.name}

    @classmethod
    def _attach(cls, link: Link, description: dict[str, Any]) -> Self:
        memory = cls.__new__(cls)
        memory._dtype = np.dtype(description["dtype"])
        memory._length = description["length"]
        memory._back = _Remote(link, memory._dtype)
        return memory

    def _serve(self, op: str, args: tuple[Any, ...]) -> Any:
        # The remote class validates and rounds before it sends, so whatever does not fit here did not come from it.
        back = _local(self)
        if args:
            i = args[0]
            if type(i) is int and 0 <= i < self._length:
                if op == "load" and len(args) == 1:
                    return float(back.load(i))
                if op == "store" and len(args) == 2 and self._is_element(args[1]):
                    back.store(i, self._dtype.type(args[1]))
                    return None
        elif op in ("loads", "stores"):
            return getattr(back, op)
        raise ProtocolViolation(f"a memory of {self._length} elements cannot serve this request")

    def _is_element(self, v: Any) -> bool:
        """Whether `v` is a float that this dtype holds as it is."""
        if type(v) is not float:
            return False
        try:
            return v != v or self._format.unpack(self._format.pack(v))[0] == v
        except OverflowError:
            return False

    @property
    def _format(self) -> struct.Struct:
        return _FORMATS[self._dtype.itemsize]


def contents(memory: Memory) -> NDArray[np.float64]:
    """For authors of checks: a float64 copy of the elements, not counted.

    Raises TypeError for a memory that is held elsewhere (in a submission's process there is nothing to copy).
    """
    return _local(memory).data.astype(np.float64)


def trace_of(memory: Memory) -> list[tuple[Op, int]]:
    """For authors of checks: the accesses so far as (op, index), oldest first, at most `TRACE_LIMIT` of them.

    Raises TypeError for a memory that is held elsewhere.
    """
    return [(op, i) for _, op, i in _local(memory).trace]


def joint_trace(**memories: Memory) -> list[tuple[str, Op, int]]:
    """For authors of checks: the accesses of several memories as (name, op, index), in the order they happened.

    `joint_trace(x=x, y=y)` tells whether y was stored to before all of x had been loaded.
    """
    events = [(time, name, op, i) for name, memory in memories.items() for time, op, i in _local(memory).trace]
    return [(name, op, i) for _, name, op, i in sorted(events)]


class _Local:
    """The elements and their ledger, in this process."""

    __slots__ = ("data", "loads", "stores", "trace")

    def __init__(self, data: NDArray[Any]) -> None:
        self.data = data
        self.loads = 0
        self.stores = 0
        self.trace: list[tuple[int, Op, int]] = []

    def load(self, i: int) -> Any:
        self.loads += 1
        if len(self.trace) < TRACE_LIMIT:
            self.trace.append((next(_clock), "load", i))  # one clock for all memories: traces can be interleaved
        return self.data[i]

    def store(self, i: int, v: Any) -> None:
        self.stores += 1
        if len(self.trace) < TRACE_LIMIT:
            self.trace.append((next(_clock), "store", i))
        self.data[i] = v


class _Remote:
    """The same interface, served and counted by the process that owns the elements."""

    __slots__ = ("_link", "_scalar")

    def __init__(self, link: Link, dtype: np.dtype[Any]) -> None:
        self._link = link
        self._scalar = dtype.type

    @property
    def loads(self) -> int:
        return int(self._link.request("loads"))

    @property
    def stores(self) -> int:
        return int(self._link.request("stores"))

    def load(self, i: int) -> Any:
        return self._scalar(self._link.request("load", i))

    def store(self, i: int, v: Any) -> None:
        self._link.post("store", i, float(v))


def _local(memory: Memory) -> _Local:
    if not isinstance(memory._back, _Local):
        raise TypeError("x is slow memory: its elements are reachable only through x.load(i) and x.store(i, v)")
    return memory._back


def _float_dtype(dtype: Any) -> np.dtype[Any]:
    # torch dtypes are recognised by their printed name: importing torch for it would cost a second.
    name = str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype
    try:
        found = np.dtype(name).name if name is not None else "None"
    except TypeError:
        found = repr(dtype)
    if found not in _DTYPES:
        raise TypeError(f"a memory holds float16, float32 or float64, not {found}: choose one of these for dtype")
    return np.dtype(found)


def _vector(values: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    if hasattr(values, "detach"):  # a tensor: numpy knows neither gradients nor bfloat16
        values = values.detach().cpu().double().numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"a memory holds real numbers, not {array.dtype}: pass a list or array of floats")
    if array.ndim != 1:
        raise ValueError(f"a memory has one dimension, the values have shape {array.shape}: pass one row")
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _number(v: Any) -> float:
    # Arrays and tensors without dimensions and numpy scalars share this much of their interface.
    scalar: Any = v.item() if getattr(v, "shape", None) == () and hasattr(v, "item") else v
    if not isinstance(scalar, Real):
        raise TypeError(f"a memory stores one real number at a time, not {_described(v)}: pass a float or a scalar")
    try:
        return float(scalar)
    except OverflowError:  # an integer beyond float64
        return float("inf") if v > 0 else float("-inf")


def _described(v: Any) -> str:
    shape = getattr(v, "shape", None)
    return f"{type(v).__name__} of shape {tuple(shape)}" if isinstance(shape, tuple) else type(v).__name__


def _rounded(v: float, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        return dtype.type(v)
