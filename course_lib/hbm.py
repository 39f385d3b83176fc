"""HBM: slow device memory whose every access is counted, read and written in tiles.

The cost model of the FlashAttention papers (Dao et al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691): data lives
in high-bandwidth memory (HBM), arithmetic happens in a small on-chip memory (SRAM), and what an algorithm costs is what
it moves between the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod
from operator import index as as_integer
from typing import Any, ClassVar, Self

import torch

from course_lib import meter
from course_lib._device import Device, Link, ProtocolViolation
from course_lib.hbm_array import HBMArray
from course_lib.hbm_store import DTYPES, MAX_NAME, ArrayInfo, Counts, Event, LocalStore, RemoteStore, Store
from course_lib.hbm_store import parse_bounds as _parse_bounds
from course_lib.hbm_store import plain as _plain

__all__ = ["HBM", "Counts", "Event", "HBMArray", "array_counts", "contents"]


class HBM(Device):
    """Device memory with a ledger.

    Reads and writes are counted in elements, per array and in order. During grading the data and the ledger stay in
    the grader's process and a kernel holds only handles; on your own machine everything is in this object. Both behave
    alike. FLOPs and the on-chip peak are measured in the process in which the kernel runs, inside `metered()`.

    sram: on-chip capacity in elements, or None for no limit. With a limit the operation that no longer fits raises
    `SRAMOverflow` inside `metered()`.
    measured: for authors of checks. False leaves out the on-chip meter when a submission's kernel is called with this
    device, which saves most of the time of a small kernel; traffic is counted all the same, FLOPs and peak stay 0.
    """

    kind: ClassVar[str] = "hbm"

    def __init__(self, sram: int | None = None, *, measured: bool = True) -> None:
        self._sram = meter.check_budget(sram)
        self._measured = measured
        self._store: Store = LocalStore()
        self._flops = 0
        self._peak = 0
        self._work = 0

    # ------------------------------------------------------------------------------------------------ arrays

    def array(self, tensor: torch.Tensor, name: str | None = None) -> HBMArray:
        """Upload `tensor` as an input: not counted, and a kernel cannot write to it. Not available inside a kernel."""
        if not isinstance(self._store, LocalStore) or meter.running():
            raise RuntimeError("inputs are uploaded before a kernel runs; inside it use hbm.empty and hbm.write")
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"hbm.array takes a torch tensor, not {type(tensor).__name__}")
        _check_dtype(tensor.dtype)
        return self._whole(self._store.upload(tensor, _name(name)))

    def empty(
        self, shape: int | tuple[int, ...], *, dtype: torch.dtype = torch.float64, name: str | None = None
    ) -> HBMArray:
        """Allocate without traffic. What was never written reads as NaN."""
        return self._allocate(shape, None, dtype, name)

    def zeros(
        self, shape: int | tuple[int, ...], *, dtype: torch.dtype = torch.float64, name: str | None = None
    ) -> HBMArray:
        """Allocate and write zeros; the writes are counted."""
        return self._allocate(shape, 0.0, dtype, name)

    def full(
        self,
        shape: int | tuple[int, ...],
        value: float,
        *,
        dtype: torch.dtype = torch.float64,
        name: str | None = None,
    ) -> HBMArray:
        """Allocate and write `value` everywhere; the writes are counted."""
        return self._allocate(shape, float(value), dtype, name)

    # ------------------------------------------------------------------------------------------------ traffic

    def read(self, view: HBMArray) -> torch.Tensor:
        """Bring `view` on chip: a private copy. Counts one read per element."""
        info = self._mine(view, "read")
        with meter.off_chip(self):
            tile = self._store.read(info.id, view._bounds)
        meter.track(tile, view)
        return tile

    def write(self, view: HBMArray, tile: torch.Tensor) -> None:
        """Write `tile` to `view`: same shape and dtype, nothing is broadcast or converted. Counts its elements.

        Raises TypeError for what is not a tensor or has another dtype, ValueError for another shape or an input array.
        """
        info = self._mine(view, "write")
        if info.is_input:
            raise ValueError(f"{info.name} is an input of the kernel: allocate the result with hbm.empty")
        if not isinstance(tile, torch.Tensor):
            raise TypeError(f"hbm.write takes a torch tensor, not {type(tile).__name__}")
        if tile.layout is not torch.strided or tile.device.type != "cpu":
            raise TypeError("hbm.write takes a dense tensor on the CPU")
        if tuple(tile.shape) != view.shape:
            raise ValueError(f"{view} has shape {view.shape}, the tile has shape {tuple(tile.shape)}")
        if tile.dtype != info.dtype:
            raise TypeError(f"{info.name} holds {info.dtype}, the tile is {tile.dtype}: convert it with tile.to(...)")
        meter.track(tile, view)
        with meter.off_chip(self):
            self._store.write(info.id, view._bounds, tile)

    # ------------------------------------------------------------------------------------------------ what it cost

    @property
    def sram(self) -> int | None:
        """On-chip capacity in elements, None when unlimited."""
        return self._sram

    @property
    def ledger(self) -> dict[str, Counts]:
        """Elements read and written, per array."""
        return self._store.ledger()

    @property
    def reads(self) -> int:
        """Elements read from all arrays."""
        return sum(counts.reads for counts in self.ledger.values())

    @property
    def writes(self) -> int:
        """Elements written to all arrays."""
        return sum(counts.writes for counts in self.ledger.values())

    @property
    def accesses(self) -> int:
        """reads + writes."""
        return sum(sum(counts) for counts in self.ledger.values())

    @property
    def trace(self) -> list[Event]:
        """Every access in order (the first million)."""
        return self._store.trace()

    @property
    def allocated(self) -> int:
        """Elements allocated by empty, zeros and full; uploaded inputs are not counted."""
        return self._store.allocated()

    @property
    def flops(self) -> int:
        """Floating-point operations of matrix and vector products, measured inside `metered()`."""
        running = meter.running_for(self)
        return self._flops + (running.flops if running else 0)

    @property
    def sram_peak(self) -> int:
        """Most elements that were on chip at once: measured inside `metered()`, and never below the largest tile."""
        running = meter.running_for(self)
        tile = self._store.largest_tile if isinstance(self._store, LocalStore) else 0
        return max(self._peak, tile, running.peak if running else 0)

    @property
    def work(self) -> int:
        """`flops` plus 2 for every element made by another operation: what the meter saw, in any spelling."""
        running = meter.running_for(self)
        return self._work + (running.work if running else 0)

    @contextmanager
    def metered(self) -> Iterator[meter.Meter]:
        """Measure FLOPs and on-chip elements of the kernel that runs inside:

        with hbm.metered():
            flash_attention_v2(hbm, Q, K, V, block=(16, 16))
        print(hbm.flops, hbm.sram_peak)
        """
        if running := meter.running_for(self):  # a kernel inside a kernel is part of it
            yield running
            return
        with meter.Meter(sram=self._sram, devices=(self,)) as measure:
            yield measure
        self._record(*measure.measurement)

    def _meter(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, meter.Measurement]:
        """Call a kernel inside `metered()`: its result and what was measured."""
        with self.metered() as measure:
            result = function(*args, **kwargs)
        return result, measure.measurement

    def _record(self, flops: Any, sram_peak: Any, work: Any = 0) -> None:
        """Add a kernel's measurement; it may come from an untrusted process."""
        if not all(type(number) is int and 0 <= number < 1 << 62 for number in (flops, sram_peak, work)):
            raise ProtocolViolation("a measurement is made of counts")
        self._flops += flops
        self._work += max(work, flops)
        self._peak = max(self._peak, sram_peak)

    def _outcome(self) -> list[Any]:
        """What a kernel left behind: contents and counts per array, for telling two kernels apart."""
        store = self._store
        assert isinstance(store, LocalStore)
        infos = [store.info(array) for array in range(store.arrays())]
        return [
            [contents(self._whole(info)) for info in infos if not info.is_input],
            [list(store.counts(info.id)) for info in infos],
            self._flops,
        ]

    # ------------------------------------------------------------------------------------------------ remote end

    def _describe(self) -> dict[str, Any]:
        return {
            "sram": self._sram,
            "measured": self._measured,
            "flops": self._flops,
            "sram_peak": self.sram_peak,
            "work": self._work,
        }

    @classmethod
    def _attach(cls, link: Link, description: dict[str, Any]) -> Self:
        hbm = cls(description["sram"], measured=description["measured"])
        hbm._store = RemoteStore(link)
        hbm._flops, hbm._peak, hbm._work = (description[key] for key in ("flops", "sram_peak", "work"))
        return hbm

    def _view(self, state: Any) -> HBMArray:
        if not isinstance(state, (list, tuple)) or len(state) != 2:
            raise ProtocolViolation("an HBMArray is an array and its bounds")
        info = self._known(state[0])
        return HBMArray(self, info, _parse_bounds(info, state[1]))

    def _serve(self, op: str, args: tuple[Any, ...]) -> Any:
        store = self._store
        if not isinstance(store, LocalStore):
            raise ProtocolViolation("a handle serves nobody")
        with meter.off_chip(self):
            match op, args:
                case "info", [array]:
                    return _travel(self._known(array))
                case "allocate", [shape, dtype, value, name]:
                    return _travel(store.allocate(*_parse_allocation(shape, dtype, value, name)))
                case "read", [array, bounds]:
                    info = self._known(array)
                    return store.read(info.id, _parse_bounds(info, bounds))
                case "write", [array, bounds, tile]:
                    return self._serve_write(store, self._known(array), bounds, tile)
                case "ledger", []:
                    return {name: list(counts) for name, counts in store.ledger().items()}
                case "trace", []:
                    return [[e.op, e.array, _plain(e.slice), e.elements] for e in store.trace()]
                case "allocated", []:
                    return store.allocated()
        raise ProtocolViolation(f"HBM does not serve {op!r:.40} with {len(args)} arguments")

    def _serve_write(self, store: LocalStore, info: ArrayInfo, raw_bounds: Any, tile: Any) -> None:
        bounds = _parse_bounds(info, raw_bounds)
        if type(tile) is not torch.Tensor or tile.layout is not torch.strided or tile.device.type != "cpu":
            raise ProtocolViolation("a written tile is not a plain tensor")
        if info.is_input or tile.dtype != info.dtype or tuple(tile.shape) != tuple(b - a for a, b in bounds):
            raise ProtocolViolation(f"a tile was written to {info.name} that the handle would have refused")
        store.write(info.id, bounds, tile)

    # ------------------------------------------------------------------------------------------------ inside

    def _known(self, array: Any) -> ArrayInfo:
        if type(array) is not int or array < 0:
            raise ProtocolViolation("an array is named by its number")
        if isinstance(self._store, LocalStore) and array >= self._store.arrays():
            raise ProtocolViolation("an array that was never allocated")
        return self._store.info(array)

    def _whole(self, info: ArrayInfo) -> HBMArray:
        return HBMArray(self, info, tuple((0, n) for n in info.shape))

    def _mine(self, view: Any, op: str) -> ArrayInfo:
        if not isinstance(view, HBMArray):
            raise TypeError(f"hbm.{op} takes an HBMArray or a slice of one, not {type(view).__name__}")
        if view._hbm is not self:
            raise ValueError(f"{view} belongs to another HBM")
        return view._info

    def _allocate(
        self, shape: int | tuple[int, ...], value: float | None, dtype: torch.dtype, name: str | None
    ) -> HBMArray:
        _check_dtype(dtype)
        sizes, label = _shape(shape), _name(name)
        with meter.off_chip(self):
            info = self._store.allocate(sizes, dtype, value, label)
        return self._whole(info)


def contents(view: HBMArray) -> torch.Tensor:
    """A copy of what `view` holds, without counting: for checks and for looking at a result after the kernel.

    RuntimeError inside a kernel, on your machine and in the grader alike.
    """
    store = view._hbm._store
    if not isinstance(store, LocalStore) or meter.running():
        raise RuntimeError(f"inside a kernel the only way to the data is hbm.read({view})")
    return store.contents(view._info.id, view._bounds)


def array_counts(view: HBMArray) -> Counts:
    """Elements read from and written to the whole array of which `view` is a part (its line of the ledger)."""
    return view._hbm.ledger[view.name]


def _travel(info: ArrayInfo) -> list[Any]:
    return [info.id, info.name, list(info.shape), info.dtype, info.is_input]


def _parse_allocation(
    shape: Any, dtype: Any, value: Any, name: Any
) -> tuple[tuple[int, ...], torch.dtype, float | None, str | None]:
    if not isinstance(shape, (list, tuple)) or not all(type(n) is int for n in shape):
        raise ProtocolViolation("a shape is a list of integers")
    if not isinstance(dtype, torch.dtype) or not (value is None or type(value) is float):
        raise ProtocolViolation("an allocation names a dtype and a number")
    if not (name is None or type(name) is str):
        raise ProtocolViolation("a name is a string")
    try:
        _check_dtype(dtype)
        return _shape(tuple(shape)), dtype, value, _name(name)
    except (TypeError, ValueError) as error:
        raise ProtocolViolation(str(error)) from None


def _check_dtype(dtype: Any) -> None:
    if dtype not in DTYPES:
        raise TypeError(f"HBM holds {', '.join(str(d) for d in DTYPES)}, not {dtype}")


def _shape(shape: Any) -> tuple[int, ...]:
    sizes = tuple(as_integer(n) for n in shape) if isinstance(shape, (tuple, list)) else (as_integer(shape),)
    if len(sizes) > 8 or any(n < 0 for n in sizes):
        raise ValueError(f"{sizes} is no shape: up to 8 sizes, none negative")
    if prod(sizes) >= 1 << 48:
        raise ValueError(f"{sizes} is larger than any HBM")
    return sizes


def _name(name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"a name is a string, not {type(name).__name__}")
    if name is not None and not 0 < len(name) <= MAX_NAME:
        raise ValueError(f"a name has 1 to {MAX_NAME} characters")
    return name
