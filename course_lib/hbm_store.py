"""The two ends behind one HBM: a store that holds the data and the ledger, and a client that asks for them."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, Protocol

import torch

from course_lib._device import Link, ProtocolViolation

Bounds = tuple[tuple[int, int], ...]
"""One (start, stop) pair per dimension, inside the array."""

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
MAX_BYTES = 1 << 30
MAX_ARRAYS = 1 << 14
MAX_EVENTS = 1 << 20
MAX_NAME = 64


class Counts(NamedTuple):
    """Elements of one array that were read and written."""

    reads: int
    writes: int


class Event(NamedTuple):
    """One use of an array: `op` is read or write (the initialising writes of zeros and full are one write)."""

    op: str
    array: str
    slice: Bounds
    elements: int

    def __str__(self) -> str:
        return f"{self.op} {spell(self.array, self.slice)}"


class ArrayInfo(NamedTuple):
    """What a handle knows about its array; never the contents."""

    id: int
    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    is_input: bool


class Store(Protocol):
    """What HBM needs from either end."""

    def info(self, array: int) -> ArrayInfo: ...
    def allocate(
        self, shape: tuple[int, ...], dtype: torch.dtype, value: float | None, name: str | None
    ) -> ArrayInfo: ...
    def read(self, array: int, bounds: Bounds) -> torch.Tensor: ...
    def write(self, array: int, bounds: Bounds, tile: torch.Tensor) -> None: ...
    def ledger(self) -> dict[str, Counts]: ...
    def trace(self) -> list[Event]: ...
    def allocated(self) -> int: ...


def spell(name: str, bounds: Bounds) -> str:
    """Python's own spelling of a slice: `K[16:32, 0:8]`."""
    return f"{name}[{', '.join(f'{start}:{stop}' for start, stop in bounds)}]"


def size(bounds: Bounds) -> int:
    return prod(stop - start for start, stop in bounds)


class LocalStore:
    """The arrays, what was done to each, and the order in which it was done."""

    def __init__(self) -> None:
        self._tensors: list[torch.Tensor] = []
        self._infos: list[ArrayInfo] = []
        self._counts: list[list[int]] = []
        self._events: list[tuple[str, int, Bounds]] = []
        self._names: set[str] = set()
        self.largest_tile = 0

    def info(self, array: int) -> ArrayInfo:
        return self._infos[array]

    def upload(self, tensor: torch.Tensor, name: str | None) -> ArrayInfo:
        self._make_room(tuple(tensor.shape), tensor.dtype)
        return self._register(tensor.detach().clone(memory_format=torch.contiguous_format), name, is_input=True)

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype, value: float | None, name: str | None) -> ArrayInfo:
        self._make_room(shape, dtype)
        poison = float("nan") if value is None else value
        info = self._register(torch.full(shape, poison, dtype=dtype), name, is_input=False)
        if value is not None:
            bounds = tuple((0, n) for n in shape)
            self._counts[info.id][1] += size(bounds)
            self._log("write", info.id, bounds)
        return info

    def read(self, array: int, bounds: Bounds) -> torch.Tensor:
        tile = self._part(array, bounds).clone(memory_format=torch.contiguous_format)
        self._counts[array][0] += tile.numel()
        self.largest_tile = max(self.largest_tile, tile.numel())
        self._log("read", array, bounds)
        return tile

    def write(self, array: int, bounds: Bounds, tile: torch.Tensor) -> None:
        self._part(array, bounds).copy_(tile.detach())
        self._counts[array][1] += tile.numel()
        self.largest_tile = max(self.largest_tile, tile.numel())
        self._log("write", array, bounds)

    def contents(self, array: int, bounds: Bounds) -> torch.Tensor:
        return self._part(array, bounds).clone(memory_format=torch.contiguous_format)

    def counts(self, array: int) -> Counts:
        return Counts(*self._counts[array])

    def ledger(self) -> dict[str, Counts]:
        return {info.name: self.counts(info.id) for info in self._infos}

    def trace(self) -> list[Event]:
        return [Event(op, self._infos[array].name, bounds, size(bounds)) for op, array, bounds in self._events]

    def allocated(self) -> int:
        return sum(prod(info.shape) for info in self._infos if not info.is_input)

    def arrays(self) -> int:
        return len(self._infos)

    def _part(self, array: int, bounds: Bounds) -> torch.Tensor:
        return self._tensors[array][tuple(slice(start, stop) for start, stop in bounds)]

    def _log(self, op: str, array: int, bounds: Bounds) -> None:
        # A runaway loop must not exhaust the memory of the process that serves it; its counts stay exact.
        if len(self._events) < MAX_EVENTS:
            self._events.append((op, array, bounds))

    def _make_room(self, shape: tuple[int, ...], dtype: torch.dtype) -> None:
        held = sum(t.numel() * t.element_size() for t in self._tensors)
        wanted = prod(shape) * dtype.itemsize
        if held + wanted > MAX_BYTES:
            raise RuntimeError(f"HBM is full: {wanted} bytes wanted, {held} of {MAX_BYTES} are allocated")
        if len(self._tensors) >= MAX_ARRAYS:
            raise RuntimeError(f"HBM holds {MAX_ARRAYS} arrays already: allocate once, write to slices")

    def _register(self, tensor: torch.Tensor, name: str | None, *, is_input: bool) -> ArrayInfo:
        array = len(self._tensors)
        info = ArrayInfo(array, self._unique(name, array), tuple(tensor.shape), tensor.dtype, is_input)
        self._tensors.append(tensor)
        self._infos.append(info)
        self._counts.append([0, 0])
        self._names.add(info.name)
        return info

    def _unique(self, name: str | None, array: int) -> str:
        """Two arrays never share a line of the ledger, whatever they were called."""
        wanted = f"hbm{array}" if name is None else name
        unique, n = wanted, 1
        while unique in self._names:
            n += 1
            unique = f"{wanted}#{n}"
        return unique


class RemoteStore:
    """Asks the process that owns the local store; remembers what it was told about arrays, nothing else."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._infos: dict[int, ArrayInfo] = {}

    def info(self, array: int) -> ArrayInfo:
        if array not in self._infos:
            self._remember(self._link.request("info", array))
        return self._infos[array]

    def allocate(self, shape: tuple[int, ...], dtype: torch.dtype, value: float | None, name: str | None) -> ArrayInfo:
        return self._remember(self._link.request("allocate", list(shape), dtype, value, name))

    def read(self, array: int, bounds: Bounds) -> torch.Tensor:
        tile: torch.Tensor = self._link.request("read", array, plain(bounds))
        return tile

    def write(self, array: int, bounds: Bounds, tile: torch.Tensor) -> None:
        plain_tile = tile.detach().contiguous()
        if type(plain_tile) is not torch.Tensor:
            plain_tile = plain_tile.as_subclass(torch.Tensor)
        self._link.post("write", array, plain(bounds), plain_tile)

    def ledger(self) -> dict[str, Counts]:
        return {name: Counts(*counts) for name, counts in self._link.request("ledger").items()}

    def trace(self) -> list[Event]:
        return [
            Event(op, name, tuple((start, stop) for start, stop in bounds), elements)
            for op, name, bounds, elements in self._link.request("trace")
        ]

    def allocated(self) -> int:
        return int(self._link.request("allocated"))

    def _remember(self, reply: Any) -> ArrayInfo:
        array, name, shape, dtype, is_input = reply
        self._infos[array] = ArrayInfo(array, name, tuple(shape), dtype, is_input)
        return self._infos[array]


def plain(bounds: Bounds) -> list[list[int]]:
    return [list(pair) for pair in bounds]


def parse_bounds(info: ArrayInfo, raw: Any) -> Bounds:
    """Bounds that came over a wire, checked against the array they claim to lie in."""
    if not isinstance(raw, (list, tuple)) or len(raw) != len(info.shape):
        raise ProtocolViolation("a slice does not match its array")
    bounds = []
    for pair, n in zip(raw, info.shape):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or any(type(edge) is not int for edge in pair):
            raise ProtocolViolation("a slice is not made of integer pairs")
        if not all(low <= high for low, high in pairwise((0, pair[0], pair[1], n))):
            raise ProtocolViolation("a slice lies outside its array")
        bounds.append((pair[0], pair[1]))
    return tuple(bounds)
