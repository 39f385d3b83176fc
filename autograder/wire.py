"""The protocol between the grader and a submission's process: length-prefixed msgpack frames of a fixed schema.

Everything received is treated as hostile: frames are decoded by msgspec against the types below, sizes, depth and
counts are bounded, arrays are rebuilt from bytes as plain numpy / torch objects. There is no pickle and no code on the
wire. A violation raises `ProtocolViolation`; the grader then drops the process.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Final, Union

import msgspec
import numpy as np

from course_lib._device import Device, DeviceView, ProtocolViolation

MAX_FRAME: Final = 64 << 20
"""Largest frame in bytes, either direction."""
MAX_RECEIVED: Final = 16 << 20
"""Largest frame that the grader takes from a submission: decoding costs many times its bytes."""
MAX_EXTENT: Final = 1 << 31
MAX_DEPTH: Final = 24
MAX_ITEMS: Final = 1 << 20
MAX_VALUES: Final = 1 << 18
"""Values in one frame, counted through all its containers."""
MAX_NAME: Final = 80
"""Characters kept of a name that the submission chose (types, functions)."""
MAX_DIMENSIONS: Final = 16
MAX_INT_DIGITS: Final = 4096
_HEADER: Final = struct.Struct("<I")
CHUNK: Final = 1 << 16
"""Bytes asked for per receive: the memory for a megabyte costs ten times as much as receiving one small frame."""

ARRAY_DTYPES: Final = frozenset(
    [
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    ]
)
TENSOR_DTYPES: Final = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4,
    "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
MEASURED: Final = ("flops", "sram_peak", "work")
"""What the on-chip meter tells (course_lib.meter.Measurement)."""
NAMED_TYPES: Final = ("State", "Plan", "Data", "Row", "Verdict")


# ------------------------------------------------------------------------------------------------------------- values
class _Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="$"):
    pass


class Bytes(_Value, frozen=True, tag="B"):
    data: bytes


class BigInt(_Value, frozen=True, tag="I"):
    hex: str


class Complex(_Value, frozen=True, tag="C"):
    real: float
    imag: float


class Array(_Value, frozen=True, tag="A"):
    """A numpy array, or a numpy scalar when `scalar`; C order, little endian."""

    dtype: str
    shape: list[int]
    data: bytes
    scalar: bool = False


class Tensor(_Value, frozen=True, tag="T"):
    """A torch tensor, or a `torch.nn.Parameter` sent by the grader as a leaf when `requires_grad`."""

    dtype: str
    shape: list[int]
    data: bytes
    requires_grad: bool = False


class TorchDtype(_Value, frozen=True, tag="D"):
    name: str


class Sequence(_Value, frozen=True, tag="S"):
    items: list[Value]
    tuple: bool = False


class Mapping(_Value, frozen=True, tag="M"):
    keys: list[str | int]
    values: list[Value]


class Named(_Value, frozen=True, tag="N"):
    """A NamedTuple or frozen dataclass of course_lib, by class name."""

    name: str
    fields: list[Value]


class Handle(_Value, frozen=True, tag="H"):
    """A device that lives in the grader. `description` only from the grader, for a process that has let go of it."""

    id: int
    kind: str = ""
    description: Mapping | None = None


class View(_Value, frozen=True, tag="V"):
    device: Handle
    state: Value


class Ref(_Value, frozen=True, tag="R"):
    """An object that stays in the submission's process."""

    id: int
    type: str = ""


Value = Union[  # noqa: UP007 (the alias is referred to by name before it exists)
    None, bool, int, float, str, Bytes, BigInt, Complex, Array, Tensor, TorchDtype, Sequence, Mapping, Named, Handle,
    View, Ref,
]  # fmt: skip


PLAIN: Final = frozenset([type(None), bool, float, str])
"""Types that are their own wire values, whatever the value (an int may be too long)."""


# ------------------------------------------------------------------------------------------------------------- frames
class _Frame(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag_field="$"):
    pass


class Load(_Frame, frozen=True, tag=1):
    """Grader: write the files, import the module (and the driver)."""

    module: str
    source: bytes
    driver: bytes | None = None
    files: dict[str, bytes] = {}
    cpu: int | None = None


class Call(_Frame, frozen=True, tag=2):
    """Grader: call `name` of "student", "driver" or of the reference `target`; kind "get" reads an attribute."""

    target: str | int
    name: str
    args: list[Value]
    kwargs: dict[str, Value]
    kind: str = "call"
    release: list[int] = []


class Answer(_Frame, frozen=True, tag=3):
    """Grader: the result of a device request."""

    value: Value


class Refusal(_Frame, frozen=True, tag=4):
    """Grader: the device raised; `type` names the exception to raise in the submission's process."""

    type: str
    message: str


class Request(_Frame, frozen=True, tag=5):
    """Submission: use a device and wait for Answer or Refusal; with `reply` false nothing is sent back."""

    device: int
    op: str
    args: list[Value]
    reply: bool = True


class Return(_Frame, frozen=True, tag=6):
    """Submission: a call has returned. `measured` is what the on-chip meter saw, if it ran."""

    value: Value
    measured: dict[str, int] | None = None


class Where(_Frame, frozen=True):
    """One frame of the student's own code."""

    line: int
    function: str
    file: str = "module"


class Raised(_Frame, frozen=True, tag=7):
    """Submission: the call raised."""

    type: str
    bases: list[str]
    message: str
    frames: list[Where]
    syntax_line: int | None = None


ToChild = Load | Call | Answer | Refusal
ToGrader = Request | Return | Raised


class Codec:
    """Frames from and to bytes; one per connection end, so that buffers are not shared."""

    def __init__(self, receives: Any, limit: int = MAX_FRAME) -> None:
        self._limit = limit
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(receives)
        self._buffer: bytes | bytearray = b""
        self._read = 0

    def pack(self, frame: _Frame) -> bytes:
        body = self._encoder.encode(frame)
        if len(body) > MAX_FRAME:
            raise ValueError(f"{len(body):,} bytes do not fit into one message of at most {MAX_FRAME:,}")
        return _HEADER.pack(len(body)) + body

    def feed(self, data: bytes) -> None:
        """Take what was received; a chunk of whole frames, the usual case, is not copied."""
        if self._read == len(self._buffer):
            self._buffer = data
        elif isinstance(self._buffer, bytearray):
            del self._buffer[: self._read]
            self._buffer += data
        else:
            self._buffer = bytearray(self._buffer[self._read :]) + data
        self._read = 0

    def next(self) -> Any | None:
        """The next complete frame, or None when more bytes are needed."""
        start = self._read + 4
        if len(self._buffer) < start:
            return None
        (size,) = _HEADER.unpack_from(self._buffer, self._read)
        if size > self._limit:
            raise ProtocolViolation(f"a frame of {size:,} bytes was announced (limit {self._limit:,})")
        end = start + size
        if len(self._buffer) < end:
            return None
        self._read = end
        try:
            return self._decoder.decode(bytes(self._buffer[start:end]))
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise ProtocolViolation(f"malformed frame: {error}") from None


# ----------------------------------------------------------------------------------------------- Python values to wire
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


# ----------------------------------------------------------------------------------------------- wire to Python values
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
