"""The metered compile device, held locally and through a link: the same behaviour, the same counts, no trust."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from course_lib import Compiler, GuardError, LayerConfig, decode_layer, layer_params, rope_tables
from course_lib._device import ProtocolViolation
from course_lib.compiler import MAX_COMPILES, run_log

CFG = LayerConfig(d=8, heads=4, kv_heads=2, head_dim=4, ffn=8)
PARAMS = layer_params(CFG, seed=5)


class Loop:
    """A link without a wire: errors cross it as type name and message only."""

    def __init__(self, device: Compiler) -> None:
        self.device = device

    def request(self, op: str, *args: Any) -> Any:
        try:
            return copy.deepcopy(self.device._serve(op, copy.deepcopy(args)))
        except (TypeError, ValueError, RuntimeError) as error:
            raise type(error)(str(error)) from None

    def post(self, op: str, *args: Any) -> None:
        self.device._serve(op, args)


@pytest.fixture(params=["local", "remote"])
def pair(request: pytest.FixtureRequest) -> tuple[Compiler, Compiler]:
    """(the device as a student holds it, the device that counts)."""
    owner = Compiler(CFG, seed=5, optimize=False)
    held = owner if request.param == "local" else Compiler._attach(Loop(owner), owner._describe())
    return held, owner


def inputs(S: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    cos, sin = rope_tables(1, CFG.head_dim, start=S - 1)
    cache = (CFG.kv_heads, S, CFG.head_dim)
    arrays = {"x": (1, CFG.d), "k_cache": cache, "v_cache": cache}
    return {**{name: rng.normal(size=shape) for name, shape in arrays.items()}, "cos": cos, "sin": sin}


def test_it_compiles_runs_and_counts(pair: tuple[Compiler, Compiler]) -> None:
    held, owner = pair
    for S, length in ((1, 1), (5, 5), (5, "S"), (9, "S")):
        given = inputs(S)
        before = {name: array.copy() for name, array in given.items()}
        executable = held.compile(length)
        got = executable(given, {"P": S - 1, "S": S} if length == "S" else {"P": S - 1})
        for one, other in zip(got, decode_layer(CFG, S - 1)(**given, **PARAMS), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
        assert all(np.array_equal(array, before[name]) for name, array in given.items())
        assert (executable.length, executable.masked) == (length, False)
    assert held.log == owner.log == [(1, False), (5, False), ("S", False), ("S", False)]
    assert (held.compiles, held.runs, held.guard_errors) == (4, 4, 0)
    assert run_log(owner) == owner.log
    assert held.config == CFG
    assert "P < S" in held.compile("S").guards


def test_optimised_and_specialised_devices_agree() -> None:
    cheap, full = Compiler(CFG, seed=5, optimize=False), Compiler(CFG, seed=5)
    given = {**inputs(6), "kmask": np.zeros((1, 1, 6))}
    for one, other in zip(cheap.compile(6, True)(given, {"P": 5}), full.compile(6, True)(given, {"P": 5}), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert cheap.compile(6).guards == full.compile(6).guards


def test_a_masked_graph_takes_a_mask(pair: tuple[Compiler, Compiler]) -> None:
    held, _ = pair
    masked = held.compile(np.int64(4), masked=True)
    with pytest.raises(ValueError, match="'kmask' is missing"):
        masked(inputs(4), {"P": 3})
    masked({**inputs(4), "kmask": np.zeros((1, 1, 4))}, {"P": np.int64(3)})
    with pytest.raises(ValueError, match="unknown input 'kmask'"):
        held.compile(4)({**inputs(4), "kmask": np.zeros((1, 1, 4))}, {"P": 3})
    assert held.log == [(4, True), (4, False)]


@pytest.mark.parametrize(
    ("length", "error"),
    [*((bad, ValueError) for bad in (0, -3, "T", 1 << 70)), *((bad, TypeError) for bad in (2.0, True, None))],
)
def test_lengths_are_checked(pair: tuple[Compiler, Compiler], length: Any, error: type[Exception]) -> None:
    held, owner = pair
    with pytest.raises(error):
        held.compile(length)
    assert owner.compiles == 0


def test_mistakes_are_explained(pair: tuple[Compiler, Compiler]) -> None:
    held, owner = pair
    torch = pytest.importorskip("torch")
    executable = held.compile(5)
    good = inputs(5)
    mistakes: list[tuple[Any, Any, type[Exception], str]] = [
        ({**good, "x": good["x"].astype(np.float32)}, {"P": 4}, TypeError, "float32"),
        ({**good, "x": torch.zeros(1, 8)}, {"P": 4}, TypeError, "Tensor"),
        ({**good, 3: good["x"]}, {"P": 4}, TypeError, "names"),
        ([good["x"]], {"P": 4}, TypeError, "dict"),
        ({name: good[name] for name in ("x", "cos", "sin")}, {"P": 4}, ValueError, "missing"),
        (good, {}, ValueError, "'P' is not bound"),
        (good, {"P": 4.0}, TypeError, "integer"),
        (good, {"P": True}, TypeError, "bool"),
        (good, {"P": 4, "Q": 1}, ValueError, "unknown symbol 'Q'"),
        (good, {"P": 1 << 80}, ValueError, "out of range"),
        (good, 4, TypeError, "dict"),
    ]
    for given, bind, error, match in mistakes:
        with pytest.raises(error, match=match):
            executable(given, bind)
    assert (owner.runs, owner.guard_errors) == (0, 0)


def test_guard_errors_are_counted_even_when_caught(pair: tuple[Compiler, Compiler]) -> None:
    held, owner = pair
    executable = held.compile(5)
    for given, bind, dimension in (
        (inputs(4), {"P": 3}, "k_cache.shape[1]"),
        (inputs(5), {"P": 5}, "P"),
        (inputs(5), {"P": 4, "S": 6}, "S"),
    ):
        with pytest.raises(GuardError) as caught:
            executable(given, bind)
        assert caught.value.dimension == dimension
        assert isinstance(caught.value, RuntimeError)
    executable(inputs(5), {"P": 4, "S": 5})
    assert (owner.guard_errors, owner.runs) == (3, 1)


def test_counts_cannot_be_set(pair: tuple[Compiler, Compiler]) -> None:
    held, _ = pair
    for name in ("compiles", "runs", "guard_errors", "log", "config"):
        with pytest.raises(AttributeError):
            setattr(held, name, 0)
    with pytest.raises(TypeError, match="copied"):
        copy.copy(held)


def test_an_executable_travels_as_its_number() -> None:
    owner = Compiler(CFG, optimize=False)
    executable = owner.compile(3)
    assert executable._device is owner
    assert owner._view(executable._state()).length == 3
    for state in (1, -1, "0", None, True, 0.0):
        with pytest.raises(ProtocolViolation):
            owner._view(state)


HOSTILE: list[tuple[str, tuple[Any, ...]]] = [
    ("reset", ()), ("compiles", (1,)), ("_serve", ()), ("compile", (5,)), ("compile", (0, False)), ("compile", (5, 1)),
    ("compile", ("T", False)), ("compile", (True, False)), ("compile", (5.0, False)), ("compile", (1 << 64, False)),
    ("run", (0, {}, {})), ("run", (-1, {}, {})), ("run", (True, {}, {})), ("run", (0, [], {})), ("guards", (7,)),
    ("run", (0, {"x": [1.0]}, {"P": 0})), ("run", (0, {"x": np.zeros(1, np.float32)}, {"P": 0})),
    ("run", (0, {}, {"P": 0.0})), ("run", (0, {}, {"P": 1 << 80})), ("run", (0, {1: np.zeros(1)}, {})),
]  # fmt: skip


@pytest.mark.parametrize(("op", "args"), HOSTILE)
def test_what_no_handle_sends_is_a_violation(op: str, args: tuple[Any, ...]) -> None:
    with pytest.raises(ProtocolViolation):
        Compiler(CFG, optimize=False)._serve(op, args)


def test_a_device_keeps_a_bounded_number_of_graphs() -> None:
    owner = Compiler(LayerConfig(2, 1, 1, 2, 1), optimize=False)
    owner._back._compiled = [owner._back._built(2, False)] * MAX_COMPILES  # type: ignore[union-attr]
    with pytest.raises(RuntimeError, match="keeps"):
        owner.compile(3)


def test_run_log_is_for_the_owner() -> None:
    owner = Compiler(CFG, optimize=False)
    with pytest.raises(TypeError, match="another process"):
        run_log(Compiler._attach(Loop(owner), owner._describe()))
