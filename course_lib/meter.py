"""The on-chip meter: FLOPs and live elements of a running kernel, measured and never reported by the kernel.

What it sees: every torch operation in the calling thread. It counts the FLOPs of matrix and vector products and keeps
the set of live storages, each once however many views it has. Products made with numpy on `tile.numpy()` count as well.
What it does not see: temporaries inside one fused torch operation, the memory of Python numbers and numpy arrays,
arithmetic on `numpy.asarray(tile)`, `tile.tolist()` or `tile.item()`, and other threads. It runs in the process of the
kernel: the counts of an HBM are enforced by the process boundary, these numbers are measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from course_lib._device import Device
from course_lib.hbm_flops import describe
from course_lib.hbm_numpy import counted_array

_active: Meter | None = None
_weak_reference: Any = StorageWeakRef
UNSEEN = 1 << 60
"""What `work` becomes when data has left torch and numpy by a way on which its arithmetic cannot be followed."""
_UNFOLLOWED = frozenset(
    {
        *(torch.Tensor.__array__, torch.Tensor.tolist, torch.Tensor.__dlpack__),
        *(torch.Tensor.item, torch.Tensor.__float__),
    }
)


class SRAMOverflow(RuntimeError):
    """A kernel needs more on-chip elements at once than the SRAM holds."""


class Measurement(NamedTuple):
    """What one run of a kernel took."""

    flops: int
    sram_peak: int
    work: int


class _Live:
    """A storage on chip: how many elements it has and what made it."""

    __slots__ = ("elements", "label", "ref", "shape")

    def __init__(self, ref: Any, label: Any, shape: tuple[int, ...]) -> None:
        self.ref = ref
        self.label = label
        self.shape = shape
        self.elements = 0


class Meter:
    """Measures while it is entered (`with Meter() as m: kernel(...)`); one at a time.

    sram: elements that may be live at once, None for no limit; exceeding it raises SRAMOverflow.
    devices: the HBMs the kernel works on. Arrays of any other HBM that lives in this process count as on chip.
    """

    def __init__(self, sram: int | None = None, devices: Iterable[Device] = ()) -> None:
        self.sram = check_budget(sram)
        self.devices = tuple(devices)
        self.flops = 0
        self.peak = 0
        self.work = 0
        """FLOPs plus 2 per element made by any other operation: what a product costs that is spelled without one.
        UNSEEN or more when the arithmetic could not be followed."""
        self._mode: Any = _Dispatch(self)
        self._exits: Any = _Exits(self)
        self._live: dict[int, _Live] = {}
        self._bound = 0  # live elements, including those that died since the last sweep
        self._paused = False

    def __enter__(self) -> Self:
        global _active
        if _active is not None:
            raise RuntimeError("a kernel is being measured already")
        _active = self
        self._mode.__enter__()
        self._exits.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        global _active
        _active = None
        self._exits.__exit__(*exc)
        self._mode.__exit__(*exc)
        self._live.clear()

    @property
    def measurement(self) -> Measurement:
        return Measurement(self.flops, self.peak, self.work)

    def track(self, tensor: torch.Tensor, label: object) -> None:
        """`tensor` is on chip from now until its storage is freed."""
        try:
            storage = tensor.untyped_storage()
        except (NotImplementedError, RuntimeError):  # sparse and wrapper tensors: their parts are seen one by one
            return
        key = storage._cdata
        live = self._live.get(key)
        if live is None:
            # The weak reference keeps the address of a dead storage from being used again.
            live = self._live[key] = _Live(_weak_reference(storage), label, tuple(tensor.shape))
        width = 2 if tensor.dtype.is_complex else 1
        elements = width * (storage.nbytes() // tensor.element_size())
        if elements > live.elements:
            self._bound += elements - live.elements
            live.elements = elements
            if self._bound > self.peak:
                self._settle(label)

    def _settle(self, label: object) -> None:
        """Drop what died, then compare what is left with the peak and the budget."""
        self._live = {key: live for key, live in self._live.items() if not live.ref.expired()}
        self._bound = sum(live.elements for live in self._live.values())
        self.peak = max(self.peak, self._bound)
        if self.sram is not None and self._bound > self.sram:
            raise SRAMOverflow(self._overflow(label))

    def _overflow(self, label: object) -> str:
        largest = sorted(self._live.values(), key=lambda live: -live.elements)
        shown = ", ".join(f"{live.label} {live.shape}" for live in largest[:8])
        more = f" and {len(largest) - 8} more" if len(largest) > 8 else ""
        return f"{label} does not fit: {self._bound} elements would be on chip, SRAM holds {self.sram} ({shown}{more})"

    def _run(self, func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if self._paused:
            return func(*args, **kwargs)
        operation = describe(func)
        if operation.is_view:  # no arithmetic and no storage of its own
            return func(*args, **kwargs)
        if operation.decomposes:
            with self._mode:
                return func.decompose(*args, **kwargs)
        out = func(*args, **kwargs)
        inputs = tensors(args) + tensors(tuple(kwargs.values())) if kwargs else tensors(args)
        for tensor in inputs:
            self.track(tensor, operation.name)
        results = tensors((out,))
        for tensor in results:
            self.track(tensor, operation.name)
        if operation.product is not None:
            products = operation.product(args, kwargs, out)
            self.flops += products
            self.work += products
        elif inputs:
            self.work += 2 * sum(tensor.numel() for tensor in results)
        return out

    def _left(self, func: Any, result: Any) -> Any:
        """What to hand out when data leaves torch: followed through numpy's own products, or marked as not followed."""
        if self._paused:
            return result
        if func is torch.Tensor.numpy:
            return counted_array(result, self._numpy)
        if func in _UNFOLLOWED:
            self.work |= UNSEEN
        return result

    def _numpy(self, products: int, made: int) -> None:
        self.flops += products
        self.work += products or 2 * made


class _Exits(TorchFunctionMode):
    """Sees the calls by which data leaves torch."""

    def __init__(self, owner: Meter) -> None:
        super().__init__()
        self._owner = owner

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        return result if isinstance(result, torch.Tensor) else self._owner._left(func, result)


class _Dispatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Hands every dispatched operation to the meter."""

    def __init__(self, owner: Meter) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._owner = owner

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # torch would import its compiler to exclude this class from it: over a second in every new process.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._owner._run(func, args, kwargs or {})


def tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    """The tensors in the arguments or results of an operation."""
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += tensors(value)
    return found


def running() -> bool:
    """Whether a kernel is being measured in this process."""
    return _active is not None


def running_for(device: Device) -> Meter | None:
    """The meter of the kernel that works on `device`."""
    return _active if _active is not None and any(device is known for known in _active.devices) else None


def track(tensor: torch.Tensor, label: object) -> None:
    """Count `tensor` as on chip, when a kernel is being measured."""
    if _active is not None:
        _active.track(tensor, label)


@contextmanager
def off_chip(device: Device) -> Iterator[None]:
    """What `device` does for itself inside is neither FLOPs nor on-chip memory of the kernel."""
    meter = running_for(device)
    if meter is None or meter._paused:
        yield
        return
    meter._paused = True
    try:
        yield
    finally:
        meter._paused = False


def check_budget(sram: Any) -> int | None:
    if sram is not None and (isinstance(sram, bool) or not isinstance(sram, int)):
        raise TypeError(f"sram is a number of elements or None, not {type(sram).__name__}")
    if sram is not None and sram < 1:
        raise ValueError(f"sram is {sram}: it holds at least one element")
    return sram
