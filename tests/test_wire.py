"""The wire: values survive the journey exactly; hostile bytes never get further than a ProtocolViolation."""

from __future__ import annotations

import struct
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import values, wire
from course_lib import Plan, State
from course_lib._device import ProtocolViolation


def _no_device(value: Any) -> Any:
    raise AssertionError(value)


encode = values.Encoder(_no_device, lambda value: wire.Ref(7, type(value).__name__))
decode = values.Decoder(_no_device, lambda ref: ref)


def _travel(value: Any) -> Any:
    codec = wire.Codec(wire.ToGrader)
    codec.feed(codec.pack(wire.Return(encode(value))))
    return decode(codec.next().value)


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.binary(max_size=20)
    | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers(-(2**60), 2**60), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(plain)
def test_plain_values_arrive_as_they_left(value: Any) -> None:
    arrived = _travel(value)
    assert arrived == value
    assert type(arrived) is type(value)


@pytest.mark.parametrize("dtype", sorted(wire.TENSOR_DTYPES))
def test_tensors_keep_dtype_shape_and_bits(dtype: str) -> None:
    bits = torch.arange(96, dtype=torch.uint8) if dtype != "bool" else torch.arange(96).remainder(2).to(torch.uint8)
    tensor = bits.view(getattr(torch, dtype)).reshape(2, 3, -1).transpose(0, 2)
    arrived = _travel(tensor)
    assert type(arrived) is torch.Tensor
    assert arrived.dtype == tensor.dtype
    assert arrived.shape == tensor.shape
    assert arrived.contiguous().flatten().view(torch.uint8).equal(tensor.contiguous().flatten().view(torch.uint8))


@pytest.mark.parametrize("dtype", sorted(wire.ARRAY_DTYPES))
def test_arrays_and_scalars_keep_dtype_and_bits(dtype: str) -> None:
    array = np.arange(12).astype(dtype).reshape(3, 4)[:, ::2]
    arrived = _travel(array)
    assert type(arrived) is np.ndarray
    assert arrived.dtype == array.dtype
    assert arrived.tobytes() == array.tobytes()
    scalar = _travel(array[2, 1])
    assert type(scalar) is type(array[2, 1])
    assert scalar == array[2, 1]


def test_a_single_element_with_odd_strides_travels() -> None:
    both = torch.arange(2.0).reshape(1, 2)
    assert _travel(both[:, :-1]).equal(torch.zeros(1, 1))


def test_gradients_are_asked_for_again_but_graphs_stay_behind() -> None:
    leaf = torch.ones(3, requires_grad=True)
    arrived = _travel([leaf, (leaf * 2).sum(), torch.nn.Parameter(torch.zeros(2))])
    assert [item.requires_grad for item in arrived] == [True, True, True]
    assert all(item.is_leaf and type(item) is torch.Tensor for item in arrived)


def test_types_of_the_course_arrive_as_themselves() -> None:
    state = _travel(State(torch.ones(2), torch.zeros(2), torch.ones(2, 3)))
    assert type(state) is State
    assert state.o.shape == (2, 3)
    assert _travel(Plan(total=5)) == Plan(total=5)


class _Liar(np.ndarray[Any, Any]):
    def __eq__(self, other: object) -> Any:
        return True


class _Float(float):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__


class _Tensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize(
    "value",
    [np.zeros(3).view(_Liar), _Float(1.0), torch.zeros(3).as_subclass(_Tensor), type("T", (tuple,), {})((1, 2))],
)
def test_no_class_of_the_sender_survives(value: Any) -> None:
    arrived = _travel(value)
    assert type(arrived) in (np.ndarray, float, torch.Tensor, tuple)


@pytest.mark.parametrize("value", [object(), {1.5: 2}, {object(): 1}, lambda: 0, (i for i in "x"), Exception("x")])
def test_everything_else_is_held_as_a_reference(value: Any) -> None:
    assert isinstance(_travel(value), wire.Ref)


def test_what_cannot_travel_is_refused_by_the_sender() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for value in (endless, np.array([object()]), torch.eye(2).to_sparse(), torch.zeros(2, device="meta")):
        with pytest.raises(values.Unsendable):
            encode(value)


# ------------------------------------------------------------------------------------------------------ hostile bytes
def _frame(body: bytes) -> bytes:
    return struct.pack("<I", len(body)) + body


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_random_bytes_end_in_a_violation_or_wait_for_more(data: bytes) -> None:
    codec = wire.Codec(wire.ToGrader)
    codec.feed(data)
    try:
        while codec.next() is not None:
            pass
    except ProtocolViolation:
        pass


@given(plain, st.data())
@settings(max_examples=200)
def test_a_flipped_byte_never_escapes(value: Any, data: st.DataObject) -> None:
    body = bytearray(msgspec.msgpack.encode(wire.Return(encode(value))))
    position = data.draw(st.integers(0, len(body) - 1))
    body[position] ^= data.draw(st.integers(1, 255))
    codec = wire.Codec(wire.ToGrader)
    codec.feed(_frame(bytes(body)))
    try:
        frame = codec.next()
        if isinstance(frame, wire.Return):
            decode(frame.value)
    except ProtocolViolation:
        pass


HOSTILE: dict[str, wire.Value] = {
    "more elements than bytes": wire.Tensor("float64", [1 << 40], b"\0" * 8),
    "negative extent": wire.Tensor("float64", [-1, -8], b"\0" * 64),
    "overflowing product": wire.Array("float64", [1 << 32, 1 << 32], b""),
    "too many dimensions": wire.Array("float64", [1] * 65, b"\0" * 8),
    "object array": wire.Array("object", [1], b"\0" * 8),
    "structured dtype": wire.Array("i4,i4", [1], b"\0" * 8),
    "unknown tensor dtype": wire.Tensor("qint8", [1], b"\0"),
    "attribute as dtype": wire.TorchDtype("load"),
    "scalar with a shape": wire.Array("float64", [2], b"\0" * 16, scalar=True),
    "integer that wants a gradient": wire.Tensor("int64", [1], b"\0" * 8, requires_grad=True),
    "endless integer": wire.BigInt("0x" + "f" * 100_000),
    "no integer": wire.BigInt("__import__"),
    "keys without values": wire.Mapping(["a", "b"], [1]),
    "class of the grader": wire.Named("HBM", [1]),
    "wrong number of fields": wire.Named("State", [1]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_value_is_a_violation(name: str) -> None:
    with pytest.raises(ProtocolViolation):
        decode(HOSTILE[name])


def test_a_bool_of_another_byte_is_a_bool() -> None:
    assert decode(wire.Array("bool", [2], b"\x02\x00")).tolist() == [True, False]
    assert decode(wire.Tensor("bool", [2], b"\xff\x00")).tolist() == [True, False]


def test_depth_is_bounded_on_arrival() -> None:
    value: wire.Value = None
    for _ in range(200):
        value = wire.Sequence([value])
    with pytest.raises(ProtocolViolation, match="deep"):
        decode(value)


def test_a_bomb_of_nested_arrays_is_a_violation() -> None:
    codec = wire.Codec(wire.ToGrader)
    codec.feed(_frame(b"\x93\x06" + b"\x91" * 200_000))
    with pytest.raises(ProtocolViolation):
        codec.next()


def test_an_announced_giant_frame_is_refused_before_it_comes() -> None:
    codec = wire.Codec(wire.ToGrader)
    codec.feed(struct.pack("<I", wire.MAX_FRAME + 1))
    with pytest.raises(ProtocolViolation, match="announced"):
        codec.next()


@pytest.mark.parametrize("frame", [wire.Load("x.py", b""), wire.Call("student", "f", [], {}), wire.Answer(1)])
def test_the_grader_accepts_no_frame_of_its_own_kind(frame: Any) -> None:
    codec = wire.Codec(wire.ToGrader)
    codec.feed(codec.pack(frame))
    with pytest.raises(ProtocolViolation):
        codec.next()
