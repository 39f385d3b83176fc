"""The HBM device: handles, counting, both back ends alike, hostile requests, and the traffic of hw2's solution."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from course_lib import HBM, Counts, HBMArray
from course_lib._device import ProtocolViolation
from course_lib.hbm import array_counts, contents
from course_lib.hbm_contract import allowance, must_hold

ROOT = Path(__file__).resolve().parents[1]


class Loopback:
    """A link to a device in the same process: requests are served as if they came over a wire."""

    def __init__(self, device: HBM) -> None:
        self.device = device
        self.posted: list[str] = []

    def request(self, op: str, *args: Any) -> Any:
        return self.device._serve(op, args)

    def post(self, op: str, *args: Any) -> None:
        self.posted.append(op)
        self.device._serve(op, args)


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(math.prod(shape), dtype=torch.float64).reshape(shape)


@pytest.fixture(params=["local", "remote"])
def device(request: pytest.FixtureRequest) -> tuple[HBM, HBMArray]:
    """An HBM with Q (6, 4) on it, as a kernel sees it."""
    hbm = HBM()
    Q = hbm.array(numbers(6, 4), "Q")
    if request.param == "local":
        return hbm, Q
    remote = HBM._attach(Loopback(hbm), hbm._describe())
    return remote, remote._view(Q._state())


def look(view: HBMArray) -> torch.Tensor:
    """The contents of a view of either back end."""
    store = view._hbm._store
    served = store._link.device if hasattr(store, "_link") else view._hbm
    return contents(served._view(view._state()))


# ------------------------------------------------------------------------------------------------------------- handles
def test_handle_knows_its_metadata(device: tuple[HBM, HBMArray]) -> None:
    _, Q = device
    assert (Q.name, Q.shape, Q.dtype, Q.ndim, len(Q), Q.is_input) == ("Q", (6, 4), torch.float64, 2, 6, True)
    assert str(Q[1:3]) == "Q[1:3, 0:4]"
    assert Q[1:3] == Q[1:3]
    assert Q[1:3] != Q[1:4]
    assert len({Q[1:3], Q[1:3], Q}) == 2


SLICES = [
    *(np.s_[1:3], np.s_[:], np.s_[-2:], np.s_[:-1], np.s_[2:99], np.s_[4:2], np.s_[:, 1:3], np.s_[1:5, -3:-1]),
    *(np.s_[..., 1:2], np.s_[2:4, ...], np.s_[np.int64(1) : np.int32(4)], np.s_[0:0], np.s_[::1]),
]


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_slices_follow_python(device: tuple[HBM, HBMArray], key: Any) -> None:
    hbm, Q = device
    assert Q[key].shape == tuple(numbers(6, 4)[key].shape)
    assert torch.equal(hbm.read(Q[key]), numbers(6, 4)[key])


def test_slices_of_slices(device: tuple[HBM, HBMArray]) -> None:
    hbm, Q = device
    part = Q[1:5][1:][:, 1:4][-2:, :2]
    assert str(part) == "Q[3:5, 1:3]"
    assert torch.equal(hbm.read(part), numbers(6, 4)[3:5, 1:3])


USES: dict[str, Callable[[HBMArray], Any]] = {
    "matmul": lambda Q: Q @ Q,
    "reflected": lambda Q: numbers(4, 4) @ Q,
    "add": lambda Q: Q + 1,
    "radd": lambda Q: 1 + Q,
    "compare": lambda Q: Q < 0,
    "negate": lambda Q: -Q,
    "T": lambda Q: Q.T,
    "method": lambda Q: Q.sum(),
    "torch": torch.exp,
    "nested": lambda Q: torch.cat([Q, Q]),
    "torch.tensor": torch.tensor,
    "torch.as_tensor": torch.as_tensor,
    "iterate": list,
    "float": float,
    "bool": bool,
    "contains": lambda Q: 1.0 in Q,
    "numpy": np.asarray,
    "ufunc": np.exp,
    "ufunc of both": lambda Q: np.ones((6, 4)) * Q,
    "numpy function": lambda Q: np.concatenate([Q, Q]),
}


@pytest.mark.parametrize("use", USES.values(), ids=list(USES))
def test_data_is_not_on_chip(device: tuple[HBM, HBMArray], use: Callable[[HBMArray], Any]) -> None:
    _, Q = device
    with pytest.raises(TypeError, match=r"Q lives in HBM: read a tile with hbm\.read\(Q\[i:j\]\)"):
        use(Q)


def test_hasattr_still_works(device: tuple[HBM, HBMArray]) -> None:
    assert not hasattr(device[1], "numpy")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        device[1].nothing  # noqa: B018


@pytest.mark.parametrize(
    ("key", "error", "says"),
    [
        (0, TypeError, "slices only"),
        (True, TypeError, "slices only"),
        ([0, 1], TypeError, "slices only"),
        (np.s_[::2], ValueError, "step 1"),
        (np.s_[::-1], ValueError, "step 1"),
        (np.s_[:, :, :], IndexError, "2 dimensions"),
        (np.s_[..., ...], IndexError, "2 dimensions"),
        (np.s_[0.5:2], TypeError, "indices"),
    ],
)
def test_refused_keys(device: tuple[HBM, HBMArray], key: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        device[1][key]


def test_item_assignment_teaches(device: tuple[HBM, HBMArray]) -> None:
    with pytest.raises(TypeError, match=r"hbm\.write"):
        device[1][0:1] = numbers(1, 4)


# ----------------------------------------------------------------------------------------------------- reads and writes
def test_tile_is_a_private_copy(device: tuple[HBM, HBMArray]) -> None:
    hbm, Q = device
    tile = hbm.read(Q[0:2])
    tile.zero_()
    assert torch.equal(hbm.read(Q), numbers(6, 4))
    O = hbm.empty((2, 4))
    hbm.write(O, tile)
    tile.fill_(7)
    assert torch.equal(look(O), torch.zeros(2, 4, dtype=torch.float64))


def test_write_accepts_what_torch_makes(device: tuple[HBM, HBMArray]) -> None:
    hbm, _ = device
    O = hbm.empty((4, 6))
    hbm.write(O, numbers(6, 4).T)
    assert torch.equal(look(O), numbers(6, 4).T)
    hbm.write(O[1:3, 1:2], numbers(2, 1).requires_grad_() * 2)
    assert torch.equal(look(O)[1:3, 1], 2 * numbers(2))
    hbm.write(O[:1], torch.nn.Parameter(numbers(1, 6)))
    assert torch.equal(look(O)[:1], numbers(1, 6))
    hbm.write(O[0:0], numbers(0, 6))


@pytest.mark.parametrize(
    ("tile", "error", "says"),
    [
        (numbers(4), ValueError, "has shape"),
        (numbers(1, 4), ValueError, "has shape"),
        (numbers(2, 4).float(), TypeError, r"tile\.to"),
        (np.zeros((2, 4)), TypeError, "not ndarray"),
        (1.0, TypeError, "not float"),
        (numbers(2, 4).to_sparse(), TypeError, "dense"),
    ],
)
def test_refused_tiles(device: tuple[HBM, HBMArray], tile: Any, error: type[Exception], says: str) -> None:
    hbm, _ = device
    O = hbm.empty((2, 4), name="O")
    with pytest.raises(error, match=says):
        hbm.write(O, tile)
    assert hbm.writes == 0


def test_inputs_cannot_be_written(device: tuple[HBM, HBMArray]) -> None:
    hbm, Q = device
    with pytest.raises(ValueError, match=r"Q is an input.*hbm\.empty"):
        hbm.write(Q[0:1], numbers(1, 4))


def test_arguments_of_the_wrong_kind(device: tuple[HBM, HBMArray]) -> None:
    hbm, _ = device
    with pytest.raises(TypeError, match="takes an HBMArray"):
        hbm.read(numbers(2, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="another HBM"):
        hbm.read(HBM().zeros((2, 2)))
    for bad in ({"shape": (2, -1)}, {"shape": (1 << 40, 1 << 20)}, {"shape": (2,), "name": ""}, {"shape": (1,) * 9}):
        with pytest.raises(ValueError):
            hbm.empty(**bad)
    for wrong in ({"shape": (2.0,)}, {"shape": (2,), "dtype": torch.int64}, {"shape": (2,), "name": 3}):
        with pytest.raises(TypeError):
            hbm.empty(**wrong)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------- counting
def test_ledger_and_trace(device: tuple[HBM, HBMArray]) -> None:
    hbm, Q = device
    O = hbm.empty((6, 4), name="O")
    l = hbm.full(6, -math.inf, name="l")
    hbm.write(O[2:4], hbm.read(Q[1:3]))
    hbm.read(O[:, 1:2])
    assert hbm.ledger == {"Q": Counts(8, 0), "O": Counts(6, 8), "l": Counts(0, 6)}
    assert (hbm.reads, hbm.writes, hbm.accesses, hbm.allocated) == (14, 14, 28, 30)
    assert [str(event) for event in hbm.trace] == [
        *("write l[0:6]", "read Q[1:3, 0:4]", "write O[2:4, 0:4]", "read O[0:6, 1:2]"),
    ]
    assert [event.elements for event in hbm.trace] == [6, 8, 8, 6]
    assert array_counts(O[0:1]) == Counts(6, 8)
    assert array_counts(l) == Counts(0, 6)


def test_unwritten_memory_is_poison(device: tuple[HBM, HBMArray]) -> None:
    hbm, _ = device
    assert hbm.read(hbm.empty((2, 3), dtype=torch.float32)).isnan().all()
    assert torch.equal(hbm.read(hbm.zeros((2,))), torch.zeros(2, dtype=torch.float64))


def test_arrays_never_share_a_line_of_the_ledger(device: tuple[HBM, HBMArray]) -> None:
    hbm, _ = device
    names = [hbm.empty((1,), name=name).name for name in ("Q", "O", "O", None, None, "hbm6")]
    assert names == ["Q#2", "O", "O#2", "hbm4", "hbm5", "hbm6"]
    assert len(hbm.ledger) == 7


def test_hbm_is_finite(device: tuple[HBM, HBMArray]) -> None:
    hbm, _ = device
    with pytest.raises(RuntimeError, match="HBM is full"):
        hbm.empty((1 << 14, 1 << 14))
    assert len(hbm.ledger) == 1


def test_uploads_and_contents_belong_to_the_host() -> None:
    hbm = HBM()
    Q = hbm.array(numbers(2, 2), "Q")
    remote = HBM._attach(Loopback(hbm), hbm._describe())
    with pytest.raises(RuntimeError, match="before a kernel runs"):
        remote.array(numbers(2, 2))
    with pytest.raises(RuntimeError, match=r"only way to the data is hbm\.read"):
        contents(remote._view(Q._state()))
    with hbm.metered():
        with pytest.raises(RuntimeError, match="before a kernel runs"):
            hbm.array(numbers(2, 2))
        with pytest.raises(RuntimeError, match="only way"):
            contents(Q)
    assert torch.equal(contents(Q[1:]), numbers(2, 2)[1:])
    assert hbm.accesses == 0
    with pytest.raises(TypeError, match="torch tensor"):
        hbm.array([1.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="HBM holds"):
        hbm.array(torch.arange(3))


def test_upload_is_a_copy() -> None:
    data = numbers(2, 2).requires_grad_()
    hbm = HBM()
    Q = hbm.array(data)
    with torch.no_grad():
        data.zero_()
    assert torch.equal(contents(Q), numbers(2, 2))
    assert not contents(Q).requires_grad


# ------------------------------------------------------------------------------------------------------------- the wire
def test_writes_are_posted_and_reads_requested() -> None:
    hbm = HBM()
    link = Loopback(hbm)
    remote = HBM._attach(link, hbm._describe())
    O = remote.zeros((4, 2), dtype=torch.float32, name="O")
    remote.write(O[1:2], torch.ones(1, 2))
    assert link.posted == ["write"]
    assert remote.ledger == hbm.ledger == {"O": Counts(0, 10)}
    late = HBM._attach(Loopback(hbm), hbm._describe())  # a handle made later learns about the array when it needs to
    assert late._view(O._state()).shape == (4, 2)


HOSTILE: list[tuple[str, tuple[Any, ...]]] = [
    ("nothing", ()),
    ("read", ()),
    ("read", (0,)),
    ("read", (True, [[0, 1], [0, 1]])),
    ("read", (-1, [[0, 1], [0, 1]])),
    ("read", (99, [[0, 1], [0, 1]])),
    ("read", ("0", [[0, 1], [0, 1]])),
    ("read", (0, [[0, 1]])),
    ("read", (0, [[0, 7], [0, 1]])),
    ("read", (0, [[2, 1], [0, 1]])),
    ("read", (0, [[-1, 1], [0, 1]])),
    ("read", (0, [[0, 1.0], [0, 1]])),
    ("read", (0, [[0, True], [0, 1]])),
    ("read", (0, [[0, 1, 1], [0, 1]])),
    ("read", (0, None)),
    ("write", (0, [[0, 1], [0, 1]], torch.zeros(1, 1, dtype=torch.float64))),
    ("write", (1, [[0, 1], [0, 1]], torch.zeros(1, 1))),
    ("write", (1, [[0, 1], [0, 1]], torch.zeros(2, 1, dtype=torch.float64))),
    ("write", (1, [[0, 1], [0, 1]], 1.0)),
    ("write", (1, [[0, 1], [0, 1]], torch.nn.Parameter(torch.zeros(1, 1, dtype=torch.float64)))),
    ("allocate", ((2, -2), torch.float64, None, None)),
    ("allocate", ([1 << 30, 1 << 30], torch.float64, None, None)),
    ("allocate", ([2.5], torch.float64, None, None)),
    ("allocate", ([2], "float64", None, None)),
    ("allocate", ([2], torch.int64, None, None)),
    ("allocate", ([2], torch.float64, 0, None)),
    ("allocate", ([2], torch.float64, None, "x" * 1000)),
    ("allocate", ([2], torch.float64, None, b"x")),
    ("upload", (numbers(2), "Q")),
    ("info", ([],)),
    ("ledger", (1,)),
]


@pytest.mark.parametrize(("op", "args"), HOSTILE, ids=lambda value: str(value)[:40])
def test_hostile_requests_are_violations(op: str, args: tuple[Any, ...]) -> None:
    hbm = HBM()
    hbm.array(numbers(6, 4), "Q")
    hbm.empty((6, 4), name="O")
    with pytest.raises(ProtocolViolation):
        hbm._serve(op, args)
    assert hbm.accesses == 0


@pytest.mark.parametrize("state", [None, [], [0], [0, None], [5, [[0, 1], [0, 1]]], [0, [[0, 9], [0, 1]]], "ab"])
def test_hostile_views_are_violations(state: Any) -> None:
    hbm = HBM()
    hbm.array(numbers(6, 4), "Q")
    with pytest.raises(ProtocolViolation):
        hbm._view(state)


@pytest.mark.parametrize("bad", [(1.0, 2, 3), (-1, 2, 3), (True, 2, 3), (1 << 62, 0, 0), (None, 0, 0)])
def test_hostile_measurements_are_violations(bad: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ProtocolViolation):
        HBM()._record(*bad)


def test_a_handle_serves_nobody() -> None:
    remote = HBM._attach(Loopback(HBM()), HBM()._describe())
    with pytest.raises(ProtocolViolation):
        remote._serve("ledger", ())


def test_runaway_loops_keep_their_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course_lib.hbm_store.MAX_EVENTS", 3)
    hbm = HBM()
    Q = hbm.array(numbers(2), "Q")
    for _ in range(5):
        hbm.read(Q)
    assert len(hbm.trace) == 3
    assert hbm.reads == 10


# ------------------------------------------------------------------------------------------------------------ contracts
def test_allowance_of_scratch_arrays() -> None:
    hbm = HBM()
    Q, O, S = hbm.array(numbers(4), "Q"), hbm.empty((4,), name="O"), hbm.empty((4,), name="S")
    hbm.write(S, hbm.read(Q))
    hbm.read(S)
    hbm.write(O[:2], numbers(2))
    contract = {Q: (4, 0), O: (0, 4)}
    assert allowance(hbm, contract) == {"Q": (4, 0), "O": (0, 4), "S": (0, 2)}  # what O leaves
    assert allowance(hbm, contract, spare=(4, 1)) == {"Q": (4, 0), "O": (0, 4), "S": (4, 3)}


def test_results_may_use_the_spare_and_share_an_array() -> None:
    hbm = HBM()
    both = hbm.empty((4,), name="both")
    hbm.write(both, numbers(4))
    hbm.write(both, numbers(4))
    assert allowance(hbm, {both[:2]: (0, 2), both[2:]: (0, 2)}) == {"both": (0, 4)}
    assert allowance(hbm, {both: (0, 4)}, spare=(0, 4)) == {"both": (0, 8)}


def load_solution() -> Any:
    spec = importlib.util.spec_from_file_location("hw2_flash", ROOT / "solutions" / "hw2" / "flash.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


needs_solution = pytest.mark.skipif(not (ROOT / "solutions" / "hw2").is_dir(), reason="a kit without solutions")


def run(kernel: Callable[..., Any], N: int, d: int, **options: Any) -> tuple[HBM, tuple[HBMArray, ...]]:
    hbm = HBM()
    generator = torch.Generator().manual_seed(N)
    arrays = [hbm.array(torch.randn(N, d, generator=generator, dtype=torch.float64), name) for name in "QKV"]
    with hbm.metered():
        results = kernel(hbm, *arrays, **options)
    return hbm, results


@needs_solution
@pytest.mark.parametrize(
    ("N", "d", "Br", "Bc"), [(64, 16, 16, 16), (128, 32, 8, 16), (200, 59, 16, 48), (97, 16, 32, 8), (5, 3, 9, 9)]
)
def test_solution_moves_what_the_formulas_say(N: int, d: int, Br: int, Bc: int) -> None:
    flash = load_solution()
    Tr, Tc = -(-N // Br), -(-N // Bc)
    hbm, _ = run(flash.standard_attention, N, d)
    once = {name: Counts(N * d, 0) for name in "QKV"}
    assert hbm.ledger == {**once, "S": Counts(N * N, N * N), "P": Counts(N * N, N * N), "O": Counts(0, N * d)}
    assert hbm.accesses == flash.io_formula("standard", N, d)
    hbm, _ = run(flash.flash_attention_v1, N, d, block=(Br, Bc))
    statistic = Counts(Tc * N, N + Tc * N)
    kept = {"O": Counts(Tc * N * d, N * d + Tc * N * d), "l": statistic, "m": statistic}
    assert hbm.ledger == {**once, "Q": Counts(Tc * N * d, 0), **kept}
    assert hbm.accesses == flash.io_formula("v1", N, d, Br, Bc)
    assert hbm.flops == 4 * N * N * d
    hbm, (O, _) = run(flash.flash_attention_v2, N, d, block=(Br, Bc))
    passes = Counts(Tr * N * d, 0)
    assert hbm.ledger == {"Q": once["Q"], "K": passes, "V": passes, "O": Counts(0, N * d), "L": Counts(0, N)}
    assert hbm.accesses == flash.io_formula("v2", N, d, Br, Bc)
    assert (
        must_hold(hbm, hbm._view([1, [[0, N], [0, d]]]), O, [hbm._view([i, [[0, N], [0, d]]]) for i in range(3)])
        <= Br * d
    )


@needs_solution
@pytest.mark.parametrize(("N", "d", "Br", "Bc"), [(64, 16, 16, 16), (128, 8, 8, 16), (97, 16, 32, 8)])
def test_solution_skips_the_future(N: int, d: int, Br: int, Bc: int) -> None:
    flash = load_solution()
    rows = [(i, min(i + Br, N)) for i in range(0, N, Br)]
    cols = [(j, min(j + Bc, N)) for j in range(0, N, Bc)]
    tiles = [(b - a, q - p) for a, b in rows for p, q in cols if p < b]
    queries, keys = (sum(column) for column in zip(*tiles))
    hbm, _ = run(flash.flash_attention_v1, N, d, block=(Br, Bc), causal=True)
    assert hbm.ledger["Q"] == Counts(queries * d, 0)
    assert hbm.ledger["O"] == Counts(queries * d, (N + queries) * d)
    assert hbm.ledger["l"] == Counts(queries, N + queries)
    assert hbm.ledger["K"] == Counts(N * d, 0)
    assert hbm.flops == 4 * d * sum(a * b for a, b in tiles)
    hbm, _ = run(flash.flash_attention_v2, N, d, block=(Br, Bc), causal=True)
    assert hbm.ledger["K"] == hbm.ledger["V"] == Counts(keys * d, 0)
    assert hbm.flops == 4 * d * sum(a * b for a, b in tiles)


def test_must_hold_finds_what_was_kept() -> None:
    hbm = HBM()
    Q, K = hbm.array(numbers(8, 2), "Q"), hbm.array(numbers(8, 2), "K")
    O = hbm.empty((8, 2), name="O")
    hbm.read(K)
    for i in range(0, 8, 2):
        hbm.read(Q[i : i + 2])
        hbm.write(O[i : i + 2], numbers(2, 2))
    assert must_hold(hbm, K, O, [Q, K]) == 16
    state = hbm.empty((8, 2), name="state")
    hbm.write(state, numbers(8, 2))
    hbm.read(state)  # what is read back afterwards need not have been held
    hbm.write(O, numbers(8, 2))
    assert must_hold(hbm, K, O, [Q, K]) == 16
    assert must_hold(HBM(), K, O, [Q, K]) == 0


@pytest.mark.parametrize("keep", [False, True], ids=["read again", "kept"])
def test_must_hold_finds_queries_that_were_kept(keep: bool) -> None:
    hbm = HBM()
    Q, K = hbm.array(numbers(8, 2), "Q"), hbm.array(numbers(8, 2), "K")
    O = hbm.empty((8, 2), name="O")
    for j in range(0, 8, 2):
        hbm.read(K[j : j + 2])
        for i in range(0, 8, 2):
            if j == 0 or not keep:
                hbm.read(Q[i : i + 2])
            if j > 0:
                hbm.read(O[i : i + 2])
            hbm.write(O[i : i + 2], numbers(2, 2))
    assert must_hold(hbm, K, O, [Q, K], Q) == (12 if keep else 4)
