"""The optimiser on the decode layer and on random graphs; generated code against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib import (
    PASSES,
    F,
    Graph,
    LayerConfig,
    codegen,
    constant_fold,
    cse,
    decode_layer,
    fold_norm_weight,
    layer_params,
    layer_shapes,
    optimize,
    run,
    simplify,
    trace,
)

ROWS, WIDTH = 3, 4
CONSTANTS = {
    "w": np.array([0.5, -1.5, 2.0, 1.0]),
    "m": np.linspace(-1, 1, WIDTH * WIDTH).reshape(WIDTH, WIDTH),
    "n": np.cos(np.arange(WIDTH * WIDTH)).reshape(WIDTH, WIDTH),
    "one": np.array(1.0),
    "zero": np.zeros(WIDTH),
}

# every step takes two values (rows, width) and gives one; values stay within [-4, 4] so that 1e-12 means something
STEPS: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, b, c: F.tanh(a + b),
    lambda a, b, c: F.tanh(a - b),
    lambda a, b, c: F.tanh(a * b),
    lambda a, b, c: a / (1.0 + F.abs(b)),
    lambda a, b, c: F.neg(F.neg(a)),
    lambda a, b, c: F.softmax(a),
    lambda a, b, c: F.silu(a) * c["one"],
    lambda a, b, c: F.tanh(F.rms_norm(a, c["w"], 0.1)),
    lambda a, b, c: F.tanh(F.matmul(F.rms_norm(a, c["w"], 0.1), c["m"])),
    lambda a, b, c: F.tanh(F.matmul(F.rms_norm(a, c["w"], 0.1), F.transpose(c["n"]))),
    lambda a, b, c: F.tanh(F.matmul(a, c["m"] * c["w"])),
    lambda a, b, c: F.transpose(F.transpose(a)) + c["zero"],
    lambda a, b, c: F.reshape(F.reshape(a, WIDTH, -1), -1, WIDTH),
    lambda a, b, c: F.slice(F.concat([a, b], axis=1), 1, 1, WIDTH + 1),
    lambda a, b, c: F.where(F.greater(a, b), a, b),
    lambda a, b, c: F.maximum(a, F.max(b, axis=1, keepdims=True) - 1.0),
    lambda a, b, c: F.rope(a, F.mean(b, axis=1, keepdims=True), c["one"]),
    lambda a, b, c: F.reshape(F.transpose(F.reshape(a, -1, 1, WIDTH), 1, 0, 2), -1, WIDTH),
    lambda a, b, c: F.while_loop(lambda s: F.sum(F.abs(s)) - 2.0 > 0.0, lambda s: s * 0.5 * c["one"], a),
]

programs = st.lists(
    st.tuples(st.integers(0, len(STEPS) - 1), st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=9
)


def random_graph(program: list[tuple[int, int, int]], rows: int | str = ROWS) -> Graph:
    def fn(x: Any, y: Any, **constants: Any) -> Any:
        values = [x, y]
        for step, i, j in program:
            values.append(STEPS[step](values[i % len(values)], values[j % len(values)], constants))
        return values[-1], values[len(values) // 2]

    return trace(fn, {"x": (rows, WIDTH), "y": (rows, WIDTH)}, CONSTANTS)


def random_inputs(seed: int, rows: int = ROWS) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    rng = np.random.default_rng(seed)
    return {"x": rng.uniform(-2, 2, (rows, WIDTH)), "y": rng.uniform(-2, 2, (rows, WIDTH))}


def assert_close(got: Any, wanted: Any) -> None:
    for one, other in zip(got, wanted, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(programs, st.integers(0, 2**32))
def test_every_pass_keeps_the_values_and_does_not_grow_the_graph(
    program: list[tuple[int, int, int]], seed: int
) -> None:
    graph, inputs = random_graph(program), random_inputs(seed)
    wanted = run(graph, inputs)
    for one in PASSES:
        smaller, changed = one(graph)
        assert_close(run(smaller, inputs), wanted)
        assert one.__name__ == "decompose" or smaller.count() <= graph.count()
        assert one.__name__ == "decompose" or len(smaller.nodes) <= len(graph.nodes)
        assert changed or str(smaller) == str(graph)
        graph = smaller  # the next pass sees what this one made


@settings(max_examples=20, deadline=None)
@given(programs, st.integers(0, 2**32))
def test_optimised_symbolic_and_generated_agree(program: list[tuple[int, int, int]], seed: int) -> None:
    inputs = random_inputs(seed)
    wanted = run(random_graph(program), inputs)
    symbolic, _ = optimize(random_graph(program, "S"))
    assert_close(run(symbolic, inputs, {"S": ROWS}), wanted)
    assert_close(run(symbolic.specialized({"S": ROWS}), inputs), wanted)
    for graph in (random_graph(program), symbolic):
        _, function = codegen(graph)
        for one, other in zip(function(inputs, {"S": ROWS}), run(graph, inputs, {"S": ROWS}), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@settings(max_examples=10, deadline=None)
@given(programs)
def test_the_fixed_point_is_one(program: list[tuple[int, int, int]]) -> None:
    graph, _ = optimize(random_graph(program))
    assert not any(one(graph)[1] for one in PASSES)


@pytest.mark.parametrize("masked", [False, True])
def test_every_pass_finds_something_in_the_decode_layer(masked: bool) -> None:
    cfg = LayerConfig(8, 4, 2, 4, 12)
    graph = trace(decode_layer(cfg, "P", masked), layer_shapes(cfg, "S", masked), layer_params(cfg))
    small, records = optimize(graph)
    assert [record.name for record in records[:5]] == [one.__name__ for one in PASSES]
    assert all(record.changed for record in records[:5])
    assert all(record.after < record.before for record in records[1:5])
    assert records[0].before == graph.count()
    assert records[-1].after == small.count()
    assert records[0].after - small.count() >= 30
    assert not any(record.changed for record in records[-5:])


def test_passes_do_what_their_names_say() -> None:
    w = np.arange(1.0, 5.0)
    twice = trace(lambda x: F.exp(x) + F.exp(x), {"x": (4,)})
    assert (twice.count(), cse(twice)[0].count()) == (3, 2)
    folded = constant_fold(trace(lambda x, w: x + F.exp(w), {"x": (4,)}, {"w": w}))[0]
    assert folded.count() == 1
    nothing = trace(lambda x, w: (x * 1.0 + 0.0 - 0.0) / 1.0, {"x": (4,)}, {"w": w})
    assert simplify(nothing)[0].count() == 0
    norm = trace(lambda x, w, m: F.matmul(x * w, m), {"x": (2, 4)}, {"w": w, "m": np.ones((4, 3))})
    assert fold_norm_weight(norm)[0].count() == 1


def test_simplify_keeps_what_broadcasting_needs() -> None:
    ones = trace(lambda x, one: x * one, {"x": (4,)}, {"one": np.ones((3, 1))})
    assert not simplify(ones)[1]


def test_fold_norm_weight_leaves_shared_matrices_alone() -> None:
    w, m = np.arange(1.0, 5.0), np.ones((4, 4))
    shared = trace(lambda x, w, m: (F.matmul(x * w, m), F.matmul(x, m)), {"x": (2, 4)}, {"w": w, "m": m})
    assert not fold_norm_weight(shared)[1]
    needed = trace(lambda x, w, m: (F.matmul(x * w, m), x * w), {"x": (2, 4)}, {"w": w, "m": m})
    assert not fold_norm_weight(cse(needed)[0])[1]


def test_cse_tells_integers_booleans_and_floats_apart() -> None:
    graph = trace(lambda x: (F.sum(x, axis=1), F.sum(x, axis=1, keepdims=True), F.sum(x, axis=0)), {"x": (2, 2)})
    assert cse(graph)[0].count() == 3
