"""hw6's solution against closed forms, the published numbers, and course_lib's full-scale accounting."""

import importlib.util
from pathlib import Path

import pytest
import torch
from torch import nn

from course_lib import Block, Row, at_full_scale

HERE = Path(__file__).parents[1] / "solutions" / "hw6"
GIB, MIB = 2**30, 2**20


def load(name):
    spec = importlib.util.spec_from_file_location(f"hw6_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


hw6, driver = load("memory_budget"), load("driver")
driver.student = hw6


def each_save(module, *inputs):
    """The count that is often quoted: every saved tensor, own storages left out, a storage as often as it was saved."""
    own = {t.untyped_storage()._cdata for t in (*module.parameters(), *module.buffers())}
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        module(*inputs)
    return sum(t.nbytes for t in saved if t.untyped_storage()._cdata not in own)


# ------------------------------------------------------------------------------------------------ published numbers
@pytest.mark.parametrize(
    ("frozen", "trainable", "sizes", "gib"),
    [
        (0, 7 * 10**9, {}, "78.2"),
        (0, 7 * 10**9, {"weight": 4, "grad": 4}, "104.3"),
        (7 * 10**9, 0, {}, "13.0"),
        (7 * 10**9, 117_440_512, {}, "14.4"),
    ],
)
def test_static_table(frozen, trainable, sizes, gib):
    assert f"{hw6.static_bytes(frozen, trainable, **sizes)['total'] / GIB:.1f}" == gib


def test_lora_table():
    assert hw6.lora_parameters(32, 7, 4096, 16) == 29_360_128
    assert hw6.lora_parameters(32, 7, 4096, 64) == 117_440_512


def test_adam_after_one_step():
    network = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.Adam(network.parameters())
    assert sum(p.numel() for p in network.parameters()) == 66_049
    assert hw6.optimizer_state_bytes(optimizer) == 0
    network(torch.randn(4, 256)).sum().backward()
    optimizer.step()
    assert hw6.optimizer_state_bytes(optimizer) == 528_408 == 528_392 + 4 * 4


@pytest.mark.parametrize(
    ("count", "gib", "slope"),
    [(each_save, ("1.94", "3.89"), "0.121"), (hw6.activation_bytes, ("1.28", "2.56"), "0.080")],
    ids=["each save", "each storage"],
)
def test_resnet_50(count, gib, slope):
    """0.121 GiB per sample counts every save; a ReLU's output is one storage and is saved twice."""
    resnet50 = pytest.importorskip("torchvision.models").resnet50
    sizes = [at_full_scale(count, resnet50, lambda b=b: [torch.randn(b, 3, 224, 224)]) for b in (16, 32)]
    fixed, per_sample = hw6.solve_fixed_and_slope(list(zip((16, 32), sizes)))
    assert tuple(f"{size / GIB:.2f}" for size in sizes) == gib
    assert f"{per_sample / GIB:.3f}" == slope
    assert f"{fixed / GIB:.3f}" == "0.000"


def wide(layers, batch, tokens=512, attention="fused"):
    return at_full_scale(
        hw6.activation_bytes,
        lambda: nn.Sequential(*(Block(4096, 32, attention=attention) for _ in range(layers))),
        lambda: [torch.randn(batch, tokens, 4096)],
    )


def test_block_of_width_4096_is_linear_in_layers_and_batch():
    one = wide(1, 1)
    assert f"{one / MIB:.0f}" == "136"
    for layers in (1, 2, 4, 8):
        for batch in (1, 2, 4, 8):
            assert wide(layers, batch) == layers * batch * one


def test_hand_written_minus_fused_grows_as_the_square():
    differences = [wide(1, 1, tokens, "manual") - wide(1, 1, tokens) for tokens in (512, 1024, 2048)]
    assert differences[1] / differences[0] == pytest.approx(4, rel=0.02)
    assert differences[2] / differences[1] == pytest.approx(4, rel=0.01)


# ----------------------------------------------------------------------------------------------------- closed forms
def closed_forms(z):
    """Bytes of the driver's cases whose saved tensors can be listed by hand."""
    x, h, k = 4 * z.B * z.d, 4 * z.B * z.h, 4 * z.B * z.k  # float32 tensors (B, d), (B, h), (B, k)
    return {
        "basic": x + 2 * h,
        "in-place": x + h + 2 * x + h,  # x, relu, input and output of SiLU, relu
        "dropout": x + h + h + h + x,  # x, mask, input of GELU and of the linear layer, mask
        "evaluation": x + h + h,  # batch norm saves its input
        "mixed-modes": x + h + x,
        "batch-norm": x + h + h + 2 * 4 * z.h,
        "input-is-a-view": 4 * z.h * z.d + h,
        "nothing-to-learn": 0,
        "frozen": h + x + h,
        "own-function": x + 2 * h,
        "attributes": x + h,
        "tuple-output": x + 2 * h,
        "equal-values": 2 * x,
        "tied": 8 * z.B * z.T + 4 * z.B * z.T * z.d,
        "computed-weight": x + x + 4 * z.h * z.d,
        "buffers": x + x,
        "precisions": x // 2 + h // 2 + 2 * h + 2 * x + x,  # bfloat16 x and tanh, float64 input and tanh, sigmoid
        "adapters": 2 * x + k,  # dropped x, its product with A, tanh
        "shared-saves": x + 2 * h + 2 * x,
        "views": z.T * x + 3 * z.T * x + 4 * z.B * z.T**2,
        "small-part-of-large": x + 2 * h,
        "expanded": x + x + 4,
        "checkpointed": x + 2 * x + x,
        "replaced-buffer": x + h,
        "autocast": x // 2,
        "inputs": x + 2 * h,
        "hooks": x + 2 * h,
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("case", list(closed_forms(driver._sizes(0))))
def test_closed_form(case, seed):
    assert driver.measure(case, seed)["bytes"] == closed_forms(driver._sizes(seed))[case]


SMALL = [name for name in driver.MODULES if name not in ("resnet10", "mobilenet_v3_small", "squeezenet1_1")]


@pytest.mark.parametrize("case", SMALL)
def test_full_scale_accounting_agrees(case):
    module, inputs = driver.build(case, 5)
    assert at_full_scale(hw6.activation_bytes, *(lambda i=i: driver.build(case, 5)[i] for i in (0, 1))) == (
        hw6.activation_bytes(module, *inputs)
    )


@pytest.mark.parametrize("case", SMALL)
def test_nothing_is_left_behind(case):
    facts = driver.measure(case, 6)
    assert facts["forwards"] == 1
    assert facts["same_parameters"]
    assert facts["same_buffers"]
    assert facts["state"] == driver.state_of(*driver.build(case, 6))


# ------------------------------------------------------------------------------------------------- inverse problems
def test_line():
    assert hw6.solve_fixed_and_slope([(16, 3 * GIB), (32, 5 * GIB)]) == (GIB, GIB / 8)
    assert hw6.solve_fixed_and_slope([(1, 0.0), (2, 3.0), (3, 3.0)]) == pytest.approx((-1.0, 1.5))
    for rows in ([], [(1, 2)], [(1, 2), (1, 3)]):
        with pytest.raises(ValueError, match="two different"):
            hw6.solve_fixed_and_slope(rows)


@pytest.mark.parametrize(
    ("reported", "static", "tokens", "label", "residue"),
    [
        (10, 2, 8, "explained", 0),
        (10, 2, 7, "explained", 1),
        (10, 2, 6, "unexplained", 2),
        (10, 2, None, "open", 8),
        (1, 2, None, "impossible", -1),
        (19, 20, 0, "impossible", -1),
        (20, 20, 0, "explained", 0),
        (20, 12, 0, "unexplained", 8),
    ],
)
def test_verdicts(reported, static, tokens, label, residue):
    (verdict,) = hw6.reconcile([Row("r", reported, static, 4, tokens)], 0.25)
    assert (verdict.name, verdict.label, verdict.residue) == ("r", label, residue)
    assert verdict.implied_tokens == hw6.implied_tokens(reported, static, 0.25, 4) == reported - static
