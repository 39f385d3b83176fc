"""hw3's solution against its contract: ledgers equal the closed forms, checkpoints and their account are exact."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from course_lib import HBM
from course_lib.hbm import contents

SOURCE = Path(__file__).parents[1] / "solutions" / "hw3"
SHAPES = [(64, 16, 16, 16), (128, 32, 8, 16), (200, 59, 16, 48), (97, 16, 32, 8)]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"hw3_{name}", SOURCE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def backward() -> ModuleType:
    return load("backward")


@pytest.fixture(scope="module")
def driver(backward: ModuleType) -> Any:
    module: Any = load("driver")
    module.student = backward
    return module


def forward(N: int, d: int, causal: bool) -> dict[str, torch.Tensor]:
    """What a forward pass leaves behind, in float64."""
    Q, K, V, dO = torch.randn(4, N, d, dtype=torch.float64, generator=torch.Generator().manual_seed(N)).unbind(0)
    S = Q @ K.T / math.sqrt(d)
    if causal:
        S = S.masked_fill(torch.ones(N, N).triu(1).bool(), -math.inf)
    L = torch.logsumexp(S, dim=1)
    P = torch.exp(S - L[:, None])
    return {"Q": Q, "K": K, "V": V, "P": P, "O": P @ V, "dO": dO, "L": L}


def gradients(left: dict[str, torch.Tensor], causal: bool) -> tuple[torch.Tensor, ...]:
    leaves = [left[name].clone().requires_grad_() for name in ("Q", "K", "V")]
    Q, K, V = leaves
    S = Q @ K.T / math.sqrt(Q.shape[1])
    if causal:
        S = S.masked_fill(torch.ones(len(Q), len(Q)).triu(1).bool(), -math.inf)
    return torch.autograd.grad(torch.softmax(S, dim=1) @ V, leaves, left["dO"])


def visited_rows(N: int, Br: int, Bc: int, causal: bool) -> int:
    """Rows of all (row block, key block) pairs that are not wholly in the future."""
    pairs = ((i, j) for j in range(0, N, Bc) for i in range(0, N, Br))
    return sum(min(Br, N - i) for i, j in pairs if not causal or min(i + Br, N) - 1 >= j)


@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_flash_ledger_is_the_contract(backward: ModuleType, shape: tuple[int, int, int, int], causal: bool) -> None:
    N, d, Br, Bc = shape
    left, hbm = forward(N, d, causal), HBM()
    inputs = [hbm.array(left[name], name) for name in ("Q", "K", "V", "O", "dO", "L")]
    result = backward.flash_attention_backward(hbm, *inputs, block=(Br, Bc), causal=causal)
    rows, once = visited_rows(N, Br, Bc, causal), N * d
    assert {name: tuple(counts) for name, counts in hbm.ledger.items()} == {
        "Q": (rows * d, 0),
        "K": (once, 0),
        "V": (once, 0),
        "O": (once, 0),
        "dO": (once + rows * d, 0),
        "L": (rows, 0),
        "D": (rows, N),
        "dQ": (rows * d, once + rows * d),
        "dK": (0, once),
        "dV": (0, once),
    }
    if not causal:
        Tc = math.ceil(N / Bc)
        assert hbm.reads == 4 * once + Tc * (3 * once + 2 * N)
        assert hbm.writes == N + 3 * once + Tc * once
    for handle, reference in zip(result, gradients(left, causal), strict=True):
        torch.testing.assert_close(contents(handle), reference, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("N", "d"), [(24, 8), (17, 5)])
def test_standard_ledger_is_the_contract(backward: ModuleType, N: int, d: int) -> None:
    left, hbm = forward(N, d, causal=True), HBM()
    inputs = [hbm.array(left[name], name) for name in ("Q", "K", "V", "P", "dO")]
    result = backward.standard_attention_backward(hbm, *inputs)
    assert (hbm.reads, hbm.writes) == (5 * N * N + 5 * N * d, 2 * N * N + 3 * N * d)
    for handle, reference in zip(result, gradients(left, causal=True), strict=True):
        torch.testing.assert_close(contents(handle), reference, rtol=1e-9, atol=1e-11)


def test_flash_multiplies_five_matrices_per_tile(backward: ModuleType) -> None:
    N, d = 48, 8
    left, hbm = forward(N, d, causal=False), HBM()
    inputs = [hbm.array(left[name], name) for name in ("Q", "K", "V", "O", "dO", "L")]
    with hbm.metered():
        backward.flash_attention_backward(hbm, *inputs, block=(16, 8))
    assert hbm.flops == 10 * N * N * d


@pytest.mark.parametrize("block", [(0, 4), (4, 0), (-2, 4), (4, -2)])
def test_blocks_below_one_are_refused(backward: ModuleType, block: tuple[int, int]) -> None:
    left, hbm = forward(8, 4, causal=False), HBM()
    inputs = [hbm.array(left[name], name) for name in ("Q", "K", "V", "O", "dO", "L")]
    with pytest.raises(ValueError, match="block"):
        backward.flash_attention_backward(hbm, *inputs, block=block)


# ---------------------------------------------------------------------------------------------------------------- MLP
def stack(layers: int, width: int = 3, batch: int = 2) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    generator = torch.Generator().manual_seed(layers)
    x, grad_out = torch.randn(2, batch, width, dtype=torch.float64, generator=generator).unbind(0)
    weights = torch.randn(layers, width, width, dtype=torch.float64, generator=generator).unbind(0)
    return x, [W.clone().requires_grad_() for W in weights], grad_out


@pytest.mark.parametrize(
    ("layers", "k", "kept", "largest"),
    [(5, 2, 3, 2), (7, 3, 3, 3), (6, 3, 2, 3), (4, 1, 4, 1), (4, 4, 1, 4), (3, 9, 1, 3), (1, 1, 1, 1)],
)
def test_checkpoints_and_account(
    backward: ModuleType, driver: Any, layers: int, k: int, kept: int, largest: int
) -> None:
    x, weights, grad_out = stack(layers)
    h, _ = backward.mlp_stack_forward(x, weights, "all")
    plain = torch.autograd.grad(h, weights, grad_out)
    h, checkpoints = backward.mlp_stack_forward(x, weights, k)
    assert not h.requires_grad
    assert len(checkpoints) == kept
    grads, peak, recomputed = backward.checkpointed_backward(weights, checkpoints, k, grad_out)
    assert all(torch.equal(a, b) for a, b in zip(grads, plain, strict=True))
    assert (peak, recomputed) == ((kept + largest) * x.numel(), layers)
    assert driver.executed(weights, checkpoints, k, grad_out)["tanh"] == layers * x.numel()
    assert driver.graph_built(x, weights, k) == 0


def test_the_meter_sees_one_segment(backward: ModuleType, driver: Any) -> None:
    x, weights, grad_out = stack(layers=36, width=4, batch=7)
    _, checkpoints = backward.mlp_stack_forward(x, weights, 6)
    assert driver.saved_activations(weights, checkpoints, 6, grad_out) == 6 * x.numel()
    whole = backward.mlp_stack_forward(x, weights, 36)[1]
    assert driver.saved_activations(weights, whole, 36, grad_out) == 36 * x.numel()


def test_arguments_are_left_alone(driver: Any) -> None:
    x, weights, grad_out = stack(5)
    assert driver.forward(x, weights, "all")["changed"] == []
    facts = driver.forward(x, weights, 2)
    assert facts["changed"] == []
    assert facts["graph"] is False
    assert driver.backward(weights, facts["result"][1], 2, grad_out)["changed"] == []


@pytest.mark.parametrize("k", [0, -1])
def test_segments_below_one_are_refused(backward: ModuleType, k: int) -> None:
    x, weights, grad_out = stack(2)
    with pytest.raises(ValueError, match="at least 1"):
        backward.mlp_stack_forward(x, weights, k)
    with pytest.raises(ValueError, match="at least 1"):
        backward.checkpointed_backward(weights, [x], k, grad_out)
