"""Symbolic sizes: exact arithmetic, and shape rules that prove or refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import F, ShapeError, run, trace
from course_lib.graph.shapes import Size, add, checked_shape, divide, minimum, multiply, numel, substitute, value


@st.composite
def sizes(draw: st.DrawFn) -> Size:
    size: Size = draw(st.integers(0, 5))
    for symbol in draw(st.lists(st.sampled_from(["S", "T"]), max_size=3)):
        size = add(multiply(size, symbol), draw(st.integers(0, 4)))
    return size


@given(sizes(), sizes(), st.integers(2, 9), st.integers(2, 9))
def test_arithmetic_is_that_of_the_numbers(a: Size, b: Size, S: int, T: int) -> None:
    bind = {"S": S, "T": T}
    assert value(add(a, b), bind) == value(a, bind) + value(b, bind)
    assert value(multiply(a, b), bind) == value(a, bind) * value(b, bind)
    assert value(substitute(a, {"S": S}), {"T": T}) == value(a, bind)
    lowest = minimum(a)
    assert lowest is not None
    assert lowest <= value(a, bind)


def test_sizes_have_one_form() -> None:
    assert add(add("S", 1), -1) == "S"
    assert add("S", multiply(-1, "S")) == 0
    assert multiply("S", "T") == multiply("T", "S")
    assert str(add(multiply(4, "S"), 1)) == "4*S + 1"
    assert numel((2, "S", 3)) == multiply(6, "S")
    assert divide(multiply(6, "S"), 3) == multiply(2, "S")
    assert divide(add("S", 1), 2) is None


@pytest.mark.parametrize("bad", ["s", "S+1", "None", ""])
def test_a_symbol_is_a_capitalised_name(bad: str) -> None:
    with pytest.raises(ValueError, match="symbol"):
        checked_shape((bad,))


@pytest.mark.parametrize("bad", [True, 2.0, None])
def test_a_size_is_an_integer(bad: object) -> None:
    with pytest.raises(TypeError, match="size"):
        checked_shape((bad,))


def test_symbols_are_carried_through_every_rule() -> None:
    def fn(q, k, v):  # type: ignore[no-untyped-def]
        scores = F.softmax(F.matmul(q, F.transpose(k, 0, 2, 1)))
        o = F.matmul(scores, v)
        longer = F.concat([k, F.slice(k, 1, 0, 1)], axis=1)
        return o, F.reshape(k, -1, 4), longer, F.sum(k, axis=1), F.mean(k, axis=-1, keepdims=True) + k

    graph = trace(fn, {"q": (2, 1, 4), "k": (2, "S", 4), "v": (2, "S", 4)})
    assert [str(shape) for shape in graph.output_shapes] == [
        "(2, 1, 4)", "(2*S, 4)", "(2, S + 1, 4)", "(2, 4)", "(2, 'S', 4)",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    for S in (2, 5):
        arrays = {name: rng.normal(size=(2, n, 4)) for name, n in (("q", 1), ("k", S), ("v", S))}
        for got, shape in zip(run(graph, arrays, {"S": S}), graph.output_shapes, strict=True):
            assert got.shape == tuple(value(size, {"S": S}) for size in shape)


CASES = {
    "add": (lambda a, b: a + b, ("S", 4), (5, 4), "S is not provably 5"),
    "mul": (lambda a, b: a * b, ("S", 4), ("T", 4), "not provably"),
    "matmul": (lambda a, b: a @ b, (2, "S"), (7, 3), "inner size S"),
    "concat": (lambda a, b: F.concat([a, b], axis=1), ("S", 2), (3, 2), "not provably equal"),
    "reshape": (lambda a, b: F.reshape(a, 8) + b, ("S", 4), (8,), "4\\*S elements are not provably 8"),
    "cache_write": (lambda a, b: F.cache_write(a, b, 0), (2, "S", 4), (2, 2, 4), "the new entry is"),
    "rms_norm": (lambda a, b: F.rms_norm(a, b), (3, "S"), (4,), "weight needs the size"),
}


@pytest.mark.parametrize("op", CASES)
def test_a_mismatch_names_operation_and_both_shapes(op: str) -> None:
    fn, a, b, why = CASES[op]
    with pytest.raises(ShapeError, match=why) as caught:
        trace(fn, {"a": a, "b": b})
    message = str(caught.value)
    assert message.startswith(f"{op}: shapes (")
    assert message.count("(") >= 2


def test_what_cannot_be_proven_is_refused() -> None:
    with pytest.raises(ShapeError, match="not provably inside"):
        trace(lambda a: F.slice(a, 0, 0, 3), {"a": ("S", 2)})
    with pytest.raises(ShapeError, match="outside a cache"):
        trace(lambda c, n: F.cache_write(c, n, 4), {"c": (1, 4, 2), "n": (1, 1, 2)})
    with pytest.raises(ShapeError, match="cannot be solved"):
        trace(lambda a: F.reshape(a, -1, 3), {"a": ("S", 2)})
