"""Tracing, guards, the decode layer at several lengths, lazy evaluation, drawings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib import (
    F,
    Graph,
    GuardError,
    LayerConfig,
    LazyRunner,
    codegen,
    decode_layer,
    layer_params,
    layer_shapes,
    optimize,
    rope_tables,
    run,
    trace,
    while_loop,
)

CFG = LayerConfig(d=8, heads=4, kv_heads=2, head_dim=4, ffn=12)
PARAMS = layer_params(CFG, seed=3)


def layer_graph(length: int | str, masked: bool = False) -> Graph:
    return trace(decode_layer(CFG, "P", masked), layer_shapes(CFG, length, masked), PARAMS)


def layer_inputs(S: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    cos, sin = rope_tables(1, CFG.head_dim, start=S - 1)
    cache = (CFG.kv_heads, S, CFG.head_dim)
    arrays = {"x": (1, CFG.d), "k_cache": cache, "v_cache": cache}
    return {**{name: rng.normal(size=shape) for name, shape in arrays.items()}, "cos": cos, "sin": sin}


@pytest.mark.parametrize("S", [2, 7, 64, 500])
def test_one_symbolic_graph_agrees_with_exact_graphs(S: int) -> None:
    symbolic, _ = optimize(layer_graph("S"))
    _, generated = codegen(symbolic)
    inputs = layer_inputs(S)
    exact = run(layer_graph(S), inputs, {"P": S - 1})
    eager = decode_layer(CFG, S - 1)(**inputs, **PARAMS)
    bind = {"S": S, "P": S - 1}
    for function in (lambda: run(symbolic, inputs, bind), lambda: generated(inputs, bind)):
        for got, one, other in zip(function(), exact, eager, strict=True):
            np.testing.assert_allclose(got, one, rtol=0, atol=1e-12)
            np.testing.assert_allclose(got, other, rtol=0, atol=1e-12)


def test_a_masked_graph_ignores_what_it_hides() -> None:
    S, length = 5, 8
    inputs = layer_inputs(S)
    padded = {name: np.zeros((CFG.kv_heads, length, CFG.head_dim)) for name in ("k_cache", "v_cache")}
    for name, array in padded.items():
        array[:, :S] = inputs[name]
    kmask = np.where(np.arange(length) < S, 0.0, -np.inf).reshape(1, 1, length)
    y, k, _ = run(layer_graph(length, True), {**inputs, **padded, "kmask": kmask}, {"P": S - 1})
    wanted = run(layer_graph(S), inputs, {"P": S - 1})
    np.testing.assert_allclose(y, wanted[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(k[:, :S], wanted[1], rtol=0, atol=1e-12)


def test_the_slot_is_written_and_nothing_else() -> None:
    inputs = layer_inputs(6)
    inputs["k_cache"][:, 2] = np.nan
    before = inputs["k_cache"].copy()
    _, k, _ = run(layer_graph(6), inputs, {"P": 2})
    assert np.isfinite(k[:, 2]).all()
    np.testing.assert_array_equal(np.delete(k, 2, axis=1), np.delete(before, 2, axis=1))
    np.testing.assert_array_equal(inputs["k_cache"], before)


BROKEN: dict[str, tuple[int | str, dict[str, Any], dict[str, int], str, str, int]] = {
    "another length": (5, layer_inputs(4), {"P": 3}, "k_cache.shape[1]", "k_cache.shape[1] == 5", 4),
    "slot behind the end": (5, layer_inputs(5), {"P": 5}, "P", "P < 5", 5),
    "negative slot": ("S", layer_inputs(5), {"S": 5, "P": -1}, "P", "P >= 0", -1),
    "size one": ("S", layer_inputs(1), {"S": 1, "P": 0}, "S", "S >= 2", 1),
    "inconsistent symbol": ("S", layer_inputs(5), {"S": 6, "P": 4}, "k_cache.shape[1]", "k_cache.shape[1] == S", 5),
    "rank": (5, {**layer_inputs(5), "x": np.zeros(8)}, {"P": 4}, "x.ndim", "x.ndim == 2", 1),
}


@pytest.mark.parametrize("case", BROKEN)
def test_guards_name_dimension_guard_and_value(case: str) -> None:
    length, inputs, bind, dimension, guard, value = BROKEN[case]
    graph = layer_graph(length)
    assert guard in [str(one) for one in graph.guards]
    for function in (lambda: run(graph, inputs, bind), lambda: codegen(graph)[1](inputs, bind)):
        with pytest.raises(GuardError) as caught:
            function()
        assert (caught.value.dimension, caught.value.guard, caught.value.value) == (dimension, guard, value)
        again = GuardError(str(caught.value))  # as it arrives from another process
        assert (again.dimension, again.guard, again.value) == (dimension, guard, value)


def test_a_fixed_slot_of_a_symbolic_cache_is_a_guard_on_its_length() -> None:
    graph = trace(lambda c, n: F.cache_write(c, n, 3), {"c": (1, "S", 2), "n": (1, 1, 2)})
    assert "S >= 4" in [str(guard) for guard in graph.guards]
    with pytest.raises(GuardError, match="S is 3"):
        run(graph, {"c": np.zeros((1, 3, 2)), "n": np.ones((1, 1, 2))}, {"S": 3})


def test_inputs_are_checked() -> None:
    graph, inputs = layer_graph(3), layer_inputs(3)
    with pytest.raises(ValueError, match="'x' is missing"):
        run(graph, {name: array for name, array in inputs.items() if name != "x"}, {"P": 2})
    with pytest.raises(ValueError, match="unknown input 'z'"):
        run(graph, {**inputs, "z": inputs["x"]}, {"P": 2})
    with pytest.raises(TypeError, match="float64"):
        run(graph, {**inputs, "x": inputs["x"].astype(np.float32)}, {"P": 2})
    with pytest.raises(ValueError, match="'P' is not bound"):
        run(graph, inputs)


def test_specialisation_starts_at_two() -> None:
    exact = layer_graph("S").specialized({"S": 9})
    assert exact.symbols == ("P",)
    assert "P < 9" in [str(guard) for guard in exact.guards]
    with pytest.raises(ValueError, match="proven from 2 on"):
        layer_graph("S").specialized({"S": 1})


def test_flops_are_a_polynomial() -> None:
    graph = trace(lambda a, b: F.matmul(a, b), {"a": (2, "S"), "b": ("S", 3)})
    assert str(graph.flops()) == "12*S"
    assert trace(lambda a, b: F.matmul(a, b), {"a": (2, 5), "b": (5, 3)}).flops() == 60


def test_data_dependent_branches_cannot_be_traced() -> None:
    with pytest.raises(TypeError, match=r"F\.while_loop"):
        trace(lambda x: x if F.sum(x) > 0.0 else -x, {"x": (3,)})
    with pytest.raises(TypeError, match="symbol"):
        F.cache_write(np.zeros((1, 2, 2)), np.zeros((1, 1, 2)), "P")


# -------------------------------------------------------------------------------------------------------- graph breaks
A = np.array([[0.5, 0.2], [0.1, 0.4]])


def power(array: Any, matrix: Any) -> Any:
    """Iterate x <- tanh(A x) + 1 until it stands still; branches on data."""
    while True:
        following = F.tanh(F.matmul(matrix, array)) + 1.0
        if F.max(F.abs(following - array)) < 1e-9:
            return following
        array = following


def test_a_convergence_loop_breaks_the_graph_at_every_turn() -> None:
    start = np.zeros((2, 1))
    lazy = LazyRunner()
    result = power(lazy.array(start), A)
    wanted = power(start, A)
    np.testing.assert_allclose(result.numpy(), wanted, rtol=0, atol=1e-12)
    assert len(lazy.graphs) >= 5
    assert max(lazy.graphs) <= 8


def converge(x: Any, matrix: Any) -> Any:
    def turn(x: Any, change: Any) -> Any:
        following = F.tanh(F.matmul(matrix, x)) + 1.0
        return following, F.max(F.abs(following - x))

    return while_loop(lambda x, change: change > 1e-9, turn, x, F.max(F.abs(x)) + 1.0)[0]


def test_while_loop_keeps_it_in_one_graph() -> None:
    start = np.zeros((2, 1))
    wanted = converge(start, A)
    lazy = LazyRunner()
    np.testing.assert_allclose(converge(lazy.array(start), A).numpy(), wanted, rtol=0, atol=1e-12)
    assert len(lazy.graphs) == 1
    graph = trace(converge, {"x": (2, 1)}, {"matrix": A})
    small, _ = optimize(graph)
    for one in (graph, small):
        np.testing.assert_array_equal(run(one, {"x": start}), codegen(one)[1]({"x": start}))
        np.testing.assert_allclose(run(one, {"x": start}), wanted, rtol=0, atol=1e-12)


def test_a_loop_keeps_its_shapes() -> None:
    with pytest.raises(ValueError, match="keep its shapes"):
        trace(lambda x: while_loop(lambda s: F.sum(s), lambda s: F.concat([s, s]), x), {"x": (2,)})
    with pytest.raises(ValueError, match="one number"):
        trace(lambda x: while_loop(lambda s: s, lambda s: s, x), {"x": (2,)})


def test_lazy_values_are_computed_once_and_on_demand() -> None:
    lazy = LazyRunner()
    x = lazy.array([1.0, 2.0])
    y = x * 2.0 + 1.0
    z = F.exp(y)
    assert lazy.graphs == []
    assert float(F.sum(y)) == 8.0
    np.testing.assert_array_equal(z.numpy(), np.exp([3.0, 5.0]))
    assert len(lazy.graphs) == 1
    assert not (F.sum(z) < 0.0)
    assert len(lazy.graphs) == 2
    with pytest.raises(TypeError, match="another"):
        x + LazyRunner().array(1.0)


def test_values_from_outside_a_trace_are_refused() -> None:
    kept: list[Any] = []
    trace(lambda x: kept.append(x) or x * 2.0, {"x": (2,)})
    with pytest.raises(TypeError, match="another graph"):
        trace(lambda x: x + kept[0], {"x": (2,)})


# ------------------------------------------------------------------------------------------------------------ drawings
def test_text_and_dot() -> None:
    graph = trace(lambda x, w: F.exp(x) * w, {"x": ("S", 2)}, {"w": np.ones(2)})
    lines = str(graph).splitlines()
    assert lines[0] == "%0 = input x : (S, 2)"
    assert lines[2:4] == ["%2 = exp(%0) : (S, 2)", "%3 = mul(%2, %1) : (S, 2)"]
    assert "guard S >= 2" in lines
    dot = graph.to_dot()
    assert dot.startswith("digraph")
    assert dot.count("->") == 2
    assert "exp\\n(S, 2)" in dot


@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_drawing_is_written(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"layer{suffix}"
    optimize(layer_graph("S"))[0].draw(path)
    assert path.stat().st_size > 5_000
