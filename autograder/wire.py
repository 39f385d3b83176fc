"""The protocol between the grader and a submission's process: length-prefixed msgpack frames of a fixed schema.

Everything received is treated as hostile: frames are decoded by msgspec against the types below, sizes, depth and
counts are bounded, arrays are rebuilt from bytes as plain numpy / torch objects. There is no pickle and no code on the
wire. A violation raises `ProtocolViolation`; the grader then drops the process.
"""

from __future__ import annotations

import struct
from typing import Any, Final, Union

import msgspec

from course_lib._device import ProtocolViolation

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
MAX_INT_DIGITS: Final = 3500
"""Hexadecimal; Python writes no integer of more than 4,300 decimal digits."""
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
