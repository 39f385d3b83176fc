"""Python values to and from the values of the wire; what is received is rebuilt as plain objects and checked."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from autograder.wire import (
    ARRAY_DTYPES,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_EXTENT,
    MAX_INT_DIGITS,
    MAX_ITEMS,
    MAX_VALUES,
    NAMED_TYPES,
    PLAIN,
    TENSOR_DTYPES,
    Array,
    BigInt,
    Bytes,
    Complex,
    Handle,
    Mapping,
    Named,
    Ref,
    Sequence,
    Tensor,
    TorchDtype,
    Value,
    View,
    _Value,
)
from course_lib._device import Device, DeviceView, ProtocolViolation


class Unsendable(TypeError):
    """A value that cannot travel and cannot be held as a reference either (too deep, too large)."""


class Encoder:
    """Python values to wire values. `device` and `other` decide what becomes of devices and of unknown objects."""

    def __init__(self, device: Callable[[Device], Handle], other: Callable[[Any], Value]) -> None:
        self._device = device
        self._other = other

    def __call__(self, value: Any, depth: int = 0) -> Value:
        kind = type(value)
        if kind in PLAIN:
            return value  # type: ignore[no-any-return]
        if kind is int:
            return value if -(1 << 63) <= value < (1 << 64) else BigInt(hex(value))
        if depth > MAX_DEPTH:
            raise Unsendable(f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(value, Device):
            return self._device(value)
        if isinstance(value, DeviceView):
            return View(self._device(value._device), self(value._state(), depth + 1))
        if kind.__name__ in NAMED_TYPES and kind.__module__.startswith("course_lib"):
            return Named(kind.__name__, [self(item, depth + 1) for item in _fields(value)])
        if isinstance(value, np.generic | np.ndarray):
            return _encode_array(value)
        torch = sys.modules.get("torch")
        if torch is not None:
            if isinstance(value, torch.Tensor):
                return _encode_tensor(torch, value)
            if isinstance(value, torch.dtype):
                return TorchDtype(str(value).removeprefix("torch."))
        return self._container(value, depth)

    def _container(self, value: Any, depth: int) -> Value:
        if isinstance(value, list | tuple):
            _bounded(len(value))
            return Sequence([self(item, depth + 1) for item in value], isinstance(value, tuple))
        if isinstance(value, dict) and all(type(key) is str or type(key) is int for key in value):
            _bounded(len(value))
            return Mapping(list(value.keys()), [self(item, depth + 1) for item in value.values()])
        if isinstance(value, bool | int | float | str):  # subclasses: by value, as the plain type
            plain = next(base for base in (bool, int, float, str) if isinstance(value, base))
            return self(plain(value), depth + 1)
        if isinstance(value, complex):
            return Complex(value.real, value.imag)
        if isinstance(value, bytes | bytearray | memoryview):
            return Bytes(bytes(value))
        return self._other(value)


def _fields(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return list(value)
    return [getattr(value, name) for name in value.__dataclass_fields__]


def _bounded(count: int) -> None:
    if count > MAX_ITEMS:
        raise Unsendable(f"a container of {count:,} items (limit {MAX_ITEMS:,})")


def _encode_array(value: np.ndarray[Any, Any] | np.generic) -> Array:
    array = np.ascontiguousarray(value).astype(value.dtype.newbyteorder("<"), copy=False)
    if array.dtype.name not in ARRAY_DTYPES:
        raise Unsendable(f"an array of dtype {array.dtype}")
    return Array(array.dtype.name, list(np.shape(value)), array.tobytes(), isinstance(value, np.generic))


def _encode_tensor(torch: Any, value: Any) -> Tensor:
    if value.layout != torch.strided or value.device.type != "cpu" or value.is_quantized:
        raise Unsendable(f"a {value.layout} tensor on device {value.device}; a dense CPU tensor is expected")
    name = str(value.dtype).removeprefix("torch.")
    if name not in TENSOR_DTYPES:
        raise Unsendable(f"a tensor of dtype {value.dtype}")
    plain = torch.Tensor.detach(value)
    if type(plain) is not torch.Tensor:
        plain = plain.as_subclass(torch.Tensor)
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    data = (plain.view(torch.int16) if name == "bfloat16" else plain).numpy().tobytes()  # in C order
    return Tensor(name, list(plain.shape), data, bool(value.requires_grad))


class Decoder:
    """Wire values to plain Python values; everything is checked, nothing of the sender's classes survives."""

    def __init__(self, handle: Callable[[Handle], Any], ref: Callable[[Ref], Any]) -> None:
        self._handle = handle
        self._ref = ref
        self._count = 0

    def __call__(self, value: Value, depth: int = 0) -> Any:
        self._count = self._count + 1 if depth else 1
        if self._count > MAX_VALUES:
            raise ProtocolViolation(f"more than {MAX_VALUES:,} values in one message")
        if not isinstance(value, _Value):
            return value
        if depth > MAX_DEPTH:
            raise ProtocolViolation("value nested too deep")
        decode = self._BY_TYPE[type(value)]
        return decode(self, value, depth + 1)

    def _sequence(self, value: Sequence, depth: int) -> Any:
        items = [self(item, depth) for item in value.items]
        return tuple(items) if value.tuple else items

    def _mapping(self, value: Mapping, depth: int) -> Any:
        if len(value.keys) != len(value.values):
            raise ProtocolViolation("a mapping with keys and values of different length")
        return {key: self(item, depth) for key, item in zip(value.keys, value.values)}

    def _named(self, value: Named, depth: int) -> Any:
        if value.name not in NAMED_TYPES:
            raise ProtocolViolation(f"unknown type {value.name!r}")
        import course_lib

        try:
            return getattr(course_lib, value.name)(*[self(item, depth) for item in value.fields])
        except (TypeError, ValueError) as error:
            raise ProtocolViolation(f"{value.name}: {error}") from None

    def _view(self, value: View, depth: int) -> Any:
        return self._handle(value.device)._view(self(value.state, depth))

    def _big_int(self, value: BigInt, depth: int) -> int:
        if len(value.hex) > MAX_INT_DIGITS:
            raise ProtocolViolation("integer too long")
        try:
            return int(value.hex, 16)
        except ValueError:
            raise ProtocolViolation("malformed integer") from None

    def _array(self, value: Array, depth: int) -> Any:
        if value.dtype not in ARRAY_DTYPES:
            raise ProtocolViolation(f"array dtype {value.dtype!r}")
        dtype = np.dtype(value.dtype)
        _check_size(value.shape, dtype.itemsize, len(value.data))
        if value.scalar and value.shape:
            raise ProtocolViolation("a scalar with a shape")
        array = np.frombuffer(value.data, dtype=dtype).reshape(value.shape)
        if dtype.kind == "b":  # a byte other than 0 and 1 is no bool
            array = array.view(np.uint8) != 0
        return array[()] if value.scalar else array.copy()

    def _tensor(self, value: Tensor, depth: int) -> Any:
        if value.dtype not in TENSOR_DTYPES:
            raise ProtocolViolation(f"tensor dtype {value.dtype!r}")
        _check_size(value.shape, TENSOR_DTYPES[value.dtype], len(value.data))
        import torch

        dtype = getattr(torch, value.dtype)
        if not value.data:
            tensor = torch.empty(value.shape, dtype=dtype)
        elif value.dtype == "bool":
            tensor = torch.frombuffer(bytearray(value.data), dtype=torch.uint8).ne(0).reshape(value.shape)
        else:
            tensor = torch.frombuffer(bytearray(value.data), dtype=dtype).reshape(value.shape)
        if value.requires_grad:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise ProtocolViolation("an integer tensor cannot require a gradient")
            tensor.requires_grad_()
        return tensor

    def _dtype(self, value: TorchDtype, depth: int) -> Any:
        if value.name not in TENSOR_DTYPES:
            raise ProtocolViolation(f"dtype {value.name!r}")
        import torch

        return getattr(torch, value.name)

    _BY_TYPE: ClassVar[dict[type, Callable[..., Any]]] = {
        Bytes: lambda self, value, depth: value.data,
        BigInt: _big_int,
        Complex: lambda self, value, depth: complex(value.real, value.imag),
        Array: _array,
        Tensor: _tensor,
        TorchDtype: _dtype,
        Sequence: _sequence,
        Mapping: _mapping,
        Named: _named,
        Handle: lambda self, value, depth: self._handle(value),
        View: _view,
        Ref: lambda self, value, depth: self._ref(value),
    }


def _check_size(shape: list[int], itemsize: int, size: int) -> None:
    if len(shape) > MAX_DIMENSIONS or any(not 0 <= extent < MAX_EXTENT for extent in shape):
        raise ProtocolViolation(f"shape {shape}")
    if math.prod(shape) * itemsize != size:
        raise ProtocolViolation(f"{size} bytes for shape {shape} of {itemsize}-byte elements")
