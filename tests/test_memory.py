"""Memory counts every access, refuses every way around one, and behaves alike on both sides of the wire."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib import Memory, State
from course_lib._device import ProtocolViolation
from course_lib.memory import TRACE_LIMIT, contents, joint_trace, trace_of


class Loopback:
    """A link without a wire: requests are served at once by the local device."""

    def __init__(self, device: Memory) -> None:
        self.device = device

    def request(self, op: str, *args: Any) -> Any:
        return self.device._serve(op, args)

    def post(self, op: str, *args: Any) -> None:
        assert self.device._serve(op, args) is None


def local(values: Any, dtype: Any) -> tuple[Memory, Memory]:
    memory = Memory(values, dtype)
    return memory, memory


def remote(values: Any, dtype: Any) -> tuple[Memory, Memory]:
    memory = Memory(values, dtype)
    return memory, Memory._attach(Loopback(memory), memory._describe())


@pytest.fixture(params=[local, remote])
def make(request: pytest.FixtureRequest) -> Any:
    """values, dtype -> (what the owner holds, what the student holds)"""
    return request.param


@pytest.mark.parametrize("dtype", [np.float16, "float32", np.dtype("float64"), torch.float16, torch.float64, float])
def test_elements_are_scalars_of_the_dtype(make: Any, dtype: Any) -> None:
    owner, memory = make([1.5, -2.0, np.inf, np.nan], dtype)
    assert len(memory) == 4
    assert isinstance(memory.dtype, np.dtype)
    loaded = [memory.load(i) for i in range(4)]
    assert all(type(v) is memory.dtype.type for v in loaded)
    np.testing.assert_array_equal(loaded, [1.5, -2.0, np.inf, np.nan])
    assert (memory.loads, memory.stores) == (owner.loads, owner.stores) == (4, 0)


def test_values_are_copied(make: Any) -> None:
    values = np.array([1.0, 2.0])
    _, memory = make(values, "float64")
    values[0] = 5.0
    memory.store(1, 7.0)
    assert memory.load(0) == 1.0
    assert values[1] == 2.0


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2], np.uint8),
        torch.tensor([1.0, 2.0], requires_grad=True),
        torch.ones(2).bfloat16(),
    ],
    ids=["ints", "tuple", "uint8", "grad", "bfloat16"],
)
def test_values_may_come_as(values: Any) -> None:
    assert contents(Memory(values, "float32")).tolist() in ([1.0, 2.0], [1.0, 1.0])


@pytest.mark.parametrize(
    ("values", "error"),
    [([[1.0]], ValueError), (3.0, ValueError), ([1j], TypeError), (["a"], TypeError), ([None], TypeError)],
)
def test_values_are_one_row_of_real_numbers(values: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="a memory"):
        Memory(values, "float32")


@pytest.mark.parametrize("dtype", ["int32", "bfloat16", torch.bfloat16, torch.int64, np.longdouble, None, "x", 3, bool])
def test_other_dtypes_are_refused(dtype: Any) -> None:
    with pytest.raises(TypeError, match=r"float16, float32 or float64.*choose"):
        Memory([1.0], dtype)


STORABLE = {
    "float": 2.5,
    "int": 2,
    "fraction": Fraction(5, 2),
    "np.float16": np.float16(2.5),
    "np.float64": np.float64(2.5),
    "np.longdouble": np.longdouble(2.5),
    "np.int8": np.int8(2),
    "array0d": np.array(2.5),
    "tensor0d": torch.tensor(2.5),
    "tensor with grad": torch.tensor(2.5, requires_grad=True),
    "bfloat16": torch.tensor(2.5, dtype=torch.bfloat16),
    "integer tensor": torch.tensor(2),
    "bool": True,
    "inf": float("inf"),
}


@pytest.mark.parametrize("value", STORABLE.values(), ids=STORABLE.keys())
def test_scalars_can_be_stored(make: Any, value: Any) -> None:
    owner, memory = make([0.0, 0.0], "float32")
    memory.store(1, value)
    assert contents(owner).tolist() == [0.0, value.item() if isinstance(value, torch.Tensor) else float(value)]
    assert (memory.loads, memory.stores) == (0, 1)


@pytest.mark.parametrize(
    ("dtype", "value", "kept"),
    [
        ("float16", 1e10, np.inf),
        ("float16", -1e10, -np.inf),
        ("float32", 1e300, np.inf),
        ("float64", 10**400, np.inf),
        ("float64", -(10**400), -np.inf),
        ("float16", 0.1, float(np.float16(0.1))),
        ("float32", 1e-60, 0.0),
        ("float32", np.nan, np.nan),
    ],
)
def test_stores_round_to_the_dtype_silently(make: Any, dtype: str, value: float, kept: float) -> None:
    owner, memory = make([0.0], dtype)
    memory.store(0, value)
    np.testing.assert_array_equal(contents(owner), [kept])


@pytest.mark.parametrize(
    "value",
    [
        "1",
        None,
        1j,
        np.complex64(1),
        [1.0],
        np.ones(1),
        torch.ones(1),
        torch.ones(1, 1),
        np.ones(0),
        object(),
        Decimal(1),
    ],
)
def test_anything_else_cannot_be_stored(make: Any, value: Any) -> None:
    owner, memory = make([0.0], "float32")
    with pytest.raises(TypeError, match="one real number"):
        memory.store(0, value)
    assert owner.stores == 0


@pytest.mark.parametrize("i", [1, np.int32(1), np.uint8(1), np.array(1), torch.tensor(1)])
def test_integers_of_any_kind_are_indices(make: Any, i: Any) -> None:
    owner, memory = make([1.0, 2.0], "float32")
    assert memory.load(i) == 2.0
    memory.store(i, 3.0)
    assert trace_of(owner) == [("load", 1), ("store", 1)]


@pytest.mark.parametrize("i", [-1, 2, 10**30, np.int64(-1)])
def test_indices_out_of_range_are_refused(make: Any, i: Any) -> None:
    owner, memory = make([1.0, 2.0], "float32")
    with pytest.raises(IndexError, match=r"memory with 2 elements.*0 <= i < len"):
        memory.load(i)
    with pytest.raises(IndexError, match=r"memory with 2 elements"):
        memory.store(i, 0.0)
    assert (owner.loads, owner.stores, trace_of(owner)) == (0, 0, [])


@pytest.mark.parametrize("i", [1.0, np.float32(1), "1", None, slice(0, 1), True, np.True_, [0], torch.tensor(1.0)])
def test_other_indices_are_refused(make: Any, i: Any) -> None:
    owner, memory = make([1.0, 2.0], "float32")
    with pytest.raises(TypeError, match="indexed by integers"):
        memory.load(i)
    with pytest.raises(TypeError, match="indexed by integers"):
        memory.store(i, 0.0)
    assert owner.loads == owner.stores == 0


AROUND = {
    "getitem": lambda x: x[0],
    "slice": lambda x: x[:],
    "iterate": lambda x: list(x),
    "for": lambda x: [v for v in x],  # noqa: C416
    "reversed": lambda x: reversed(x),
    "sum": sum,
    "max": max,
    "in": lambda x: 1.0 in x,
    "asarray": np.asarray,
    "array of dtype": lambda x: np.array(x, dtype=np.float32, copy=True),
    "numpy function": np.exp,
    "tensor": torch.tensor,
    "as_tensor": torch.as_tensor,
    "unpack": lambda x: [*x],
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
    "setitem": lambda x: x.__setitem__(0, 1.0),
}


@pytest.mark.parametrize("use", AROUND.values(), ids=AROUND.keys())
def test_no_use_of_the_whole_memory(make: Any, use: Any) -> None:
    owner, memory = make([1.0, 2.0], "float32")
    with pytest.raises(TypeError, match="x is slow memory"):
        use(memory)
    assert owner.loads == owner.stores == 0


def test_counts_cannot_be_set(make: Any) -> None:
    _, memory = make([1.0], "float32")
    for name in ("loads", "stores", "dtype"):
        with pytest.raises(AttributeError):
            setattr(memory, name, 0)


def test_both_sides_look_alike() -> None:
    (owner, here), (_, there) = local([1.0, 2.0], "float16"), remote([1.0, 2.0], "float16")
    assert repr(here) == repr(there) == "<Memory of 2 x float16>"
    assert dir(type(here)) == dir(type(there))
    assert {n for n in dir(here) if not n.startswith("_")} == {n for n in dir(there) if not n.startswith("_")}
    assert trace_of(owner) == []


def test_contents_and_trace_belong_to_the_owner() -> None:
    owner, memory = remote([1.0, 2.0], "float32")
    memory.load(1)
    memory.store(0, 5.0)
    assert contents(owner).tolist() == [5.0, 2.0]
    assert contents(owner).dtype == np.float64
    assert trace_of(owner) == [("load", 1), ("store", 0)]
    for look in (contents, trace_of):
        with pytest.raises(TypeError, match="only through"):
            look(memory)
    contents(owner)[0] = 9.0
    trace_of(owner).clear()
    assert contents(owner)[0] == 5.0
    assert len(trace_of(owner)) == 2


def test_traces_of_several_memories_interleave(make: Any) -> None:
    (x, x_handle), (y, y_handle) = make([1.0, 2.0], "float32"), make([0.0, 0.0], "float32")
    y_handle.store(1, 0.0)
    x_handle.load(1)
    y_handle.store(0, 0.0)
    x_handle.load(0)
    assert joint_trace(x=x, y=y) == [("y", "store", 1), ("x", "load", 1), ("y", "store", 0), ("x", "load", 0)]


def test_the_trace_is_bounded_and_the_counts_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course_lib.memory.TRACE_LIMIT", 3)
    memory = Memory([1.0], "float32")
    for _ in range(5):
        memory.load(0)
    assert (memory.loads, len(trace_of(memory))) == (5, 3)
    assert TRACE_LIMIT > 10_000


class Lying(int):
    """Passes for an integer, compares as it likes."""

    def __le__(self, other: object) -> bool:
        return True

    __lt__ = __le__


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("load", ()),
        ("load", (0, 0)),
        ("load", (-1,)),
        ("load", (2,)),
        ("load", (True,)),
        ("load", (0.0,)),
        ("load", ("0",)),
        ("load", (np.int64(0),)),
        ("load", (Lying(99),)),
        ("load", (None,)),
        ("load", ([0],)),
        ("store", (0,)),
        ("store", (2, 1.0)),
        ("store", (-1, 1.0)),
        ("store", (0, 1)),
        ("store", (0, "1")),
        ("store", (0, None)),
        ("store", (0, np.float32(1.0))),
        ("store", (0, 0.1)),
        ("store", (0, 1e300)),
        ("loads", (0,)),
        ("stores", (0,)),
        ("values", ()),
        ("trace", ()),
        ("_back", ()),
        ("", ()),
        (None, ()),
        (0, (0,)),
    ],
)
def test_a_hostile_remote_end_is_refused(op: Any, args: Any) -> None:
    memory = Memory([1.0, 2.0], "float32")
    with pytest.raises(ProtocolViolation):
        memory._serve(op, args)
    assert (memory.loads, memory.stores, trace_of(memory)) == (0, 0, [])
    assert contents(memory).tolist() == [1.0, 2.0]


@given(st.lists(st.floats(width=32), min_size=1, max_size=8), st.data())
def test_remote_and_local_agree_on_every_program(values: list[float], data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["float16", "float32", "float64"]))
    (_, here), (owner, there) = local(values, dtype), remote(values, dtype)
    for _ in range(data.draw(st.integers(0, 12))):
        i = data.draw(st.integers(0, len(values) - 1))
        if data.draw(st.booleans()):
            np.testing.assert_array_equal(here.load(i), there.load(i))
        else:
            value = data.draw(st.floats() | st.integers())
            here.store(i, value)
            there.store(i, value)
    assert (here.loads, here.stores) == (there.loads, there.stores) == (owner.loads, owner.stores)
    assert trace_of(here) == trace_of(owner)
    np.testing.assert_array_equal(contents(here), contents(owner))


def test_state_unpacks_and_is_a_tuple() -> None:
    state = State(torch.zeros(1), torch.ones(1), torch.ones(1, 2))
    m, l, o = state
    assert state.m is m
    assert state.l is l
    assert state.o is o
    assert state._fields == ("m", "l", "o")


def test_memory_and_state_do_not_import_torch() -> None:
    code = (
        "import sys; from course_lib import Memory, State; Memory([1.0], 'float32'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
