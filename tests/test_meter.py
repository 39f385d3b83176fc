"""The on-chip meter: FLOPs of every spelling of a product, and live elements counted once per storage."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from course_lib import HBM, HBMArray, SRAMOverflow
from course_lib._device import Device
from course_lib.meter import UNSEEN, Meter, running

M, K, N = 3, 4, 5


def rand(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64)


A, B, C, V, W = rand(M, K), rand(K, N), rand(M, N), rand(K), rand(M)
BATCH_A, BATCH_B, BATCH_C = rand(2, M, K), rand(2, K, N), rand(2, M, N)
PRODUCT = 2 * M * K * N

PRODUCTS: dict[str, tuple[Callable[[], Any], int]] = {
    "@": (lambda: A @ B, PRODUCT),
    "mm": (lambda: torch.mm(A, B), PRODUCT),
    "mm out": (lambda: torch.mm(A, B, out=torch.empty_like(C)), PRODUCT),
    "addmm": (lambda: torch.addmm(C, A, B), PRODUCT),
    "addmm alpha": (lambda: torch.addmm(C, A, B, beta=0, alpha=2), PRODUCT),
    "addmm_": (lambda: C.clone().addmm_(A, B), PRODUCT),
    "addmm out": (lambda: torch.addmm(C, A, B, out=torch.empty_like(C)), PRODUCT),
    "bmm": (lambda: torch.bmm(BATCH_A, BATCH_B), 2 * PRODUCT),
    "baddbmm": (lambda: torch.baddbmm(BATCH_C, BATCH_A, BATCH_B), 2 * PRODUCT),
    "baddbmm_": (lambda: BATCH_C.clone().baddbmm_(BATCH_A, BATCH_B), 2 * PRODUCT),
    "addbmm": (lambda: torch.addbmm(C, BATCH_A, BATCH_B), 2 * PRODUCT),
    "addbmm_": (lambda: C.clone().addbmm_(BATCH_A, BATCH_B), 2 * PRODUCT),
    "matmul of a batch": (lambda: BATCH_A @ B, 2 * PRODUCT),
    "mv": (lambda: torch.mv(A, V), 2 * M * K),
    "matrix @ vector": (lambda: A @ V, 2 * M * K),
    "vector @ matrix": (lambda: W @ A, 2 * M * K),
    "addmv": (lambda: torch.addmv(W, A, V), 2 * M * K),
    "addmv_": (lambda: W.clone().addmv_(A, V), 2 * M * K),
    "dot": (lambda: torch.dot(V, V), 2 * K),
    "vdot": (lambda: torch.vdot(V, V), 2 * K),
    "addr": (lambda: torch.addr(A, W, V), 2 * M * K),
    "addr_": (lambda: A.clone().addr_(W, V), 2 * M * K),
    "inner": (lambda: torch.inner(A, A), 2 * M * K * M),
    "einsum": (lambda: torch.einsum("mk,kn->mn", A, B), PRODUCT),
    "einsum dot": (lambda: torch.einsum("k,k->", V, V), 2 * K),
    "tensordot": (lambda: torch.tensordot(A, B, dims=1), PRODUCT),
    "linear": (lambda: F.linear(A, B.T.contiguous()), PRODUCT),
    "linear with bias": (lambda: F.linear(A, B.T.contiguous(), rand(N)), PRODUCT),
    "multi_dot": (lambda: torch.linalg.multi_dot([A, B]), PRODUCT),
    "vmap": (lambda: torch.vmap(lambda row: row @ B)(A), PRODUCT),
    "attention": (lambda: F.scaled_dot_product_attention(*(rand(1, 1, 6, 4) for _ in range(3))), 4 * 36 * 4),
    "attention of matrices": (lambda: F.scaled_dot_product_attention(rand(6, 4), rand(6, 4), rand(6, 4)), 4 * 36 * 4),
    "cdist": (lambda: torch.cdist(A, A), 2 * M * M * K),
    "convolution": (lambda: F.conv1d(rand(1, 2, 6), rand(3, 2, 2)), 2 * 5 * 3 * 2 * 2),
    "outer": (lambda: torch.outer(W, V), 0),
    "elementwise": (lambda: (A * A).sum() + torch.softmax(A, 1).max(), 0),
}


@pytest.mark.parametrize(("compute", "flops"), PRODUCTS.values(), ids=list(PRODUCTS))
def test_every_spelling_of_a_product_counts(compute: Callable[[], Any], flops: int) -> None:
    with Meter() as meter:
        compute()
    assert meter.flops == flops
    with torch.inference_mode(), Meter() as meter:
        compute()
    assert meter.flops == flops


def test_backward_counts() -> None:
    a = rand(M, K).requires_grad_()
    with Meter() as meter:
        (a @ B).sum().backward()  # type: ignore[no-untyped-call]
    assert meter.flops == 2 * PRODUCT


def test_work_covers_products_without_a_product() -> None:
    with Meter() as meter:
        (A[:, :, None] * B[None]).sum(dim=1)
    assert meter.flops == 0
    assert meter.work >= PRODUCT


# ---------------------------------------------------------------------------------------------------------- live memory
def test_views_count_once() -> None:
    with Meter() as meter:
        x = torch.zeros(10, 10)
        _ = x.T, x[2:5], x.view(100), x.expand(10, 10), x.reshape(4, 25)
        x += 1
        x.mul_(2)
    assert meter.peak == 100


def test_what_died_is_gone() -> None:
    with Meter() as meter:
        for _ in range(5):
            x = torch.zeros(10)
            del x
        y = torch.zeros(7)
        y = y + 1
    assert meter.peak == 14


def test_a_view_keeps_its_storage() -> None:
    with Meter() as meter:
        x = torch.zeros(100)
        x = x[:1]
        _ = torch.ones(50)
    assert meter.peak == 150


def test_inputs_made_elsewhere_count_when_used() -> None:
    mask = torch.zeros(40)
    unused = torch.zeros(1000)
    with Meter() as meter:
        _ = torch.from_numpy(np.ones(8)) + 1
        _ = mask[:3] * 2
    assert meter.peak == 40 + 8 + 3
    del unused


def test_resized_storages() -> None:
    with Meter() as meter:
        x = torch.zeros(2)
        x.resize_(50)
        y = torch.zeros(1)
        y.untyped_storage().resize_(4 * 30)
        y.add_(1)
    assert meter.peak == 80


def test_elements_not_bytes() -> None:
    with Meter() as meter:
        _ = torch.zeros(10, dtype=torch.bool), torch.zeros(10, dtype=torch.float64), torch.zeros(10, dtype=torch.int64)
    assert meter.peak == 30
    with Meter() as meter:
        _ = torch.zeros(10, dtype=torch.complex128)
    assert meter.peak == 20
    with Meter() as meter:
        torch.zeros(10, dtype=torch.float64).view(torch.float32).add_(1)
    assert meter.peak == 20


def test_graphs_keep_what_they_saved() -> None:
    with Meter() as meter:
        x = torch.zeros(10, requires_grad=True)
        for _ in range(4):
            x = x.exp()
    assert meter.peak == 50


# ------------------------------------------------------------------------------------------------------------- with HBM
def test_tiles_count_and_the_device_does_not() -> None:
    hbm = HBM()
    Q = hbm.array(rand(8, 4), "Q")
    with hbm.metered() as meter:
        tile = hbm.read(Q[:2])
        assert (hbm.flops, hbm.sram_peak) == (0, 8)
        O = hbm.zeros((100, 4))
        hbm.write(O[:2], tile.T.contiguous().T)
        _ = tile @ tile.T
        assert meter.measurement == (2 * 2 * 4 * 2, 16, meter.work)
    assert (hbm.flops, hbm.sram_peak) == (32, 16)
    with hbm.metered():
        _ = hbm.read(Q[:1]) @ rand(4, 1)
    assert hbm.flops == 32 + 8
    assert hbm.work >= hbm.flops


def test_peak_is_never_below_the_largest_tile() -> None:
    hbm = HBM()
    hbm.read(hbm.array(rand(8, 4), "Q"))
    assert hbm.sram_peak == 32


def test_another_hbm_is_no_hiding_place() -> None:
    hbm = HBM()
    with hbm.metered() as meter:
        own = HBM()
        parked = own.zeros((50,))
        assert meter.peak >= 50
        del own, parked


def test_a_kernel_within_a_kernel_is_part_of_it() -> None:
    hbm = HBM()
    Q = hbm.array(rand(8, 4), "Q")
    with hbm.metered():
        with hbm.metered():
            tile = hbm.read(Q)
        _ = tile @ tile.T
    assert hbm.flops == 2 * 8 * 8 * 4
    with Meter(), pytest.raises(RuntimeError, match="already"), Meter():
        pass
    assert not running()


def scores_kernel(hbm: HBM, Q: HBMArray) -> None:
    with hbm.metered():
        q = hbm.read(Q)
        scores = q @ q.T
        torch.exp(scores)


@pytest.mark.parametrize(
    ("sram", "says"),
    [
        (15, "Q[0:4, 0:4] does not fit: 16 elements would be on chip, SRAM holds 15 (Q[0:4, 0:4] (4, 4))"),
        (31, "mm does not fit: 32 elements would be on chip, SRAM holds 31 (Q[0:4, 0:4] (4, 4), mm (4, 4))"),
        (
            47,
            "exp does not fit: 48 elements would be on chip, SRAM holds 47 (Q[0:4, 0:4] (4, 4), mm (4, 4), exp (4, 4))",
        ),
    ],
)
def test_overflow_names_operation_tiles_and_budget(sram: int, says: str) -> None:
    hbm = HBM(sram=sram)
    Q = hbm.array(rand(8, 4), "Q")
    with pytest.raises(SRAMOverflow) as caught:
        scores_kernel(hbm, Q[0:4])
    assert str(caught.value) == says
    assert not running()
    enough = HBM(sram=48)
    scores_kernel(enough, enough.array(rand(4, 4), "Q"))


@pytest.mark.parametrize(("sram", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), (1.5, TypeError)])
def test_budgets(sram: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        HBM(sram=sram)
    assert HBM(sram=7).sram == 7


def test_the_device_calls_a_kernel_with_its_meter() -> None:
    hbm = HBM()
    Q = hbm.array(rand(3, 4), "Q")
    result, measured = hbm._meter(lambda hbm, Q, *, twice: 2 * hbm.read(Q) if twice else None, hbm, Q, twice=True)
    assert result.shape == (3, 4)
    assert (measured.flops, measured.sram_peak) == (0, 24)
    assert isinstance(hbm, Device)


# ------------------------------------------------------------------------------------------------------ out of sight
def numpy_kernel(a: Any, b: Any) -> dict[str, tuple[Callable[[], Any], int]]:
    return {
        "@": (lambda: a @ b, PRODUCT),
        "matmul out": (lambda: np.matmul(a, b, out=np.empty((M, N))), PRODUCT),
        "dot": (lambda: np.dot(a, b), PRODUCT),
        "matrix @ vector": (lambda: a @ b[:, 0], 2 * M * K),
        "inner": (lambda: np.inner(a, a), 2 * M * K * M),
        "einsum": (lambda: np.einsum("mk,kn->mn", a, b), PRODUCT),
        "tensordot": (lambda: np.tensordot(a, b, axes=1), PRODUCT),
        "vdot": (lambda: np.vdot(b[:, 0], b[:, 1]), 2 * K),
        "derived": (lambda: np.exp(np.concatenate([a])[:, :]) @ np.asfortranarray(b), PRODUCT),
        "elementwise": (lambda: (a * a).sum(axis=0).max(), 0),
    }


@pytest.mark.parametrize("spelling", numpy_kernel(A, B))
def test_products_of_tiles_in_numpy_count(spelling: str) -> None:
    with Meter() as meter:
        compute, flops = numpy_kernel(A.numpy(), B.numpy())[spelling]
        got = compute()
    plain = numpy_kernel(A.numpy(), B.numpy())[spelling][0]()
    np.testing.assert_array_equal(np.asarray(got), plain)
    assert meter.flops == flops
    assert meter.work < UNSEEN
    assert type(A.numpy()) is np.ndarray
    assert isinstance(torch.from_numpy(np.atleast_1d(got)), torch.Tensor)


@pytest.mark.parametrize(
    "leave",
    [np.asarray, torch.Tensor.tolist, lambda t: t[0, 0].item(), lambda t: float(t[0, 0])],
    ids=["asarray", "tolist", "item", "float"],
)
def test_the_meter_knows_what_it_cannot_follow(leave: Callable[[torch.Tensor], Any]) -> None:
    with Meter() as meter:
        leave(A)
    assert meter.work >= UNSEEN
    with Meter() as meter:
        _ = bool((A > 0).any()), len(A), A.shape, A.sum()
    assert meter.work < UNSEEN


def test_other_threads_are_not_followed() -> None:
    with Meter() as meter:
        thread = threading.Thread(target=lambda: A @ B)
        thread.start()
        thread.join()
    assert (meter.flops, meter.work) == (0, 0)


def test_measuring_does_not_import_the_compiler() -> None:
    program = (
        "import sys, torch\n"
        "from course_lib.meter import Meter\n"
        "before = 'torch._dynamo' in sys.modules\n"
        "with Meter():\n"
        "    torch.ones(3) + 1\n"
        "assert before or 'torch._dynamo' not in sys.modules, 'over a second in every new process'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
