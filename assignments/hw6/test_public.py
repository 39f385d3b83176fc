"""Public checks of hw6: the same contract from closed forms and invariants; no solution is needed to run them."""

import importlib.util
from pathlib import Path

import pytest
import torch

from autograder.checks import check, expect, raises
from course_lib import Row, Verdict


def _load_driver():
    spec = importlib.util.spec_from_file_location("hw6_public_driver", Path(__file__).with_name("driver.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = _load_driver()


@check(points=2, kind="exactness", stub="lora_parameters", hint="Per projection: rank x d_model, and d_model x rank.")
@pytest.mark.parametrize(("rank", "count"), [(16, 29_360_128), (64, 117_440_512)], ids=["rank-16", "rank-64"])
def test_public_lora(submission, rng, rank, count):
    """counts the adapters of a 7B model, and of one several times as deep"""
    times = int(rng.integers(2, 100))
    expect.equal("lora_parameters of more layers", submission.lora_parameters(32 * times, 7, 4096, rank), count * times)
    expect.equal("lora_parameters", submission.lora_parameters(32, 7, 4096, rank), count)


@check(points=3, kind="exactness", stub="static_bytes", hint="Frozen parameters cost their weight and nothing else.")
@pytest.mark.parametrize(
    ("arguments", "sizes", "gib"),
    [
        ((0, 7 * 10**9), {}, 78.2),
        ((0, 7 * 10**9), {"weight": 4, "grad": 4}, 104.3),
        ((7 * 10**9, 0), {}, 13.0),
        ((7 * 10**9, 117_440_512), {}, 14.4),
    ],
    ids=["half", "single", "inference", "lora"],
)
def test_public_static(submission, rng, arguments, sizes, gib):
    """reproduces the static table of a 7B model, and of one several times as large"""
    times = int(rng.integers(2, 100))
    for scale in (times, 1):
        got = submission.static_bytes(*(scale * count for count in arguments), **sizes)
        parts = expect.mapping("static_bytes", got, ["weights", "grads", "optimizer", "master", "total"])
        total = expect.integer("total", parts["total"])
        expect.that(round(total / scale / 2**30, 1) == gib, f"the total is not {scale} x {gib} GiB", got=total)
        others = sum(expect.integer(name, part) for name, part in parts.items() if name != "total")
        expect.equal("sum of the parts", others, total)


@check(points=3, kind="memory", stub="optimizer_state_bytes", hint="Two moments per element, and one step per tensor.")
@pytest.mark.parametrize("case", ["momentum", "adam"])
def test_public_optimizer_state(submission, rng, case):
    """counts moments and steps, and nothing before the first step"""
    seed = int(rng.integers(2**31))
    with torch.random.fork_rng(devices=[]):
        parameters = driver.build_optimizer(case, seed, 1).param_groups[0]["params"]
    elements, tensors = sum(p.numel() for p in parameters), len(parameters)
    wanted = {"momentum": 4 * elements, "adam": 8 * elements + 4 * tensors}[case]
    for steps, held in ((3, wanted), (1, wanted), (0, 0)):
        facts = expect.mapping("measurement", submission.driver.measure_optimizer(case, seed, steps))
        expect.equal(f"bytes after {steps} steps", facts["bytes"], held)


@check(
    points=5, kind="memory", stub="activation_bytes", hint="Count storages: each once, parameters and buffers never."
)
@pytest.mark.parametrize("case", ["basic", "shared-saves", "views", "attributes", "checkpointed"])
def test_public_activations(submission, rng, case):
    """counts what a few small modules save"""
    seed = int(rng.integers(2**31))
    z = driver._sizes(seed)
    x, h = 4 * z.B * z.d, 4 * z.B * z.h  # bytes of a tensor (B, d) and of one (B, h)
    wanted = {
        "basic": x + 2 * h,  # the inputs of two linear layers and of the GELU between them
        "shared-saves": x + 2 * h + 2 * x,  # x, sigmoid, exp, both factors of the product
        "views": z.T * x + 3 * z.T * x + 4 * z.B * z.T**2,  # x, q and k and v in one storage, softmax
        "attributes": x + h,  # x, the tensor multiplied by
        "checkpointed": x + 2 * x + x,  # x, the inputs of two segments, tanh
    }[case]
    facts = expect.mapping("measurement", submission.driver.measure(case, seed))
    expect.equal("bytes", facts["bytes"], wanted)


@check(
    points=2, kind="robustness", stub="activation_bytes", hint="Forward in training mode draws and updates; who pays?"
)
@pytest.mark.parametrize("case", ["dropout", "batch-norm"])
def test_public_leaves(submission, rng, case):
    """runs forward once and leaves everything as it was"""
    seed = int(rng.integers(2**31))
    facts = expect.mapping("measurement", submission.driver.measure(case, seed))
    with torch.random.fork_rng(devices=[]):
        before = driver.state_of(*driver.build(case, seed))
    expect.that(expect.integer("bytes", facts["bytes"]) > 0, "nothing was counted")
    expect.equal("forward passes", facts["forwards"], 1)
    expect.equal("state", facts["state"], before)


@check(points=2, kind="values", stub="solve_fixed_and_slope", hint="Both unknowns follow from two rows.")
def test_public_line(submission, rng):
    """finds the line through two rows, and refuses one row"""
    fixed, slope = int(rng.integers(1, 10**9)), int(rng.integers(1, 10**9))
    rows = [(16, fixed + 16 * slope), (32, fixed + 32 * slope)]
    got = expect.sequence("result", submission.solve_fixed_and_slope(rows), 2)
    for name, value, wanted in (("fixed", got[0], fixed), ("per_sample", got[1], slope)):
        expect.that(abs(expect.number(name, value) - wanted) <= 1e-9 * rows[1][1], f"{name} is off", got=value)
    with raises("ValueError"):
        submission.solve_fixed_and_slope(rows[:1])


@check(points=1, kind="values", stub="implied_tokens", hint="What is left above static, divided by what a token costs.")
def test_public_implied_tokens(submission, rng):
    """inverts the prediction"""
    tokens = int(rng.integers(100, 5000))
    got = expect.number("tokens", submission.implied_tokens(10**9 + 2**15 * tokens * 4, 10**9, 2**15, 4))
    expect.that(abs(got - tokens) <= 1e-9 * tokens, "the tokens do not account for the bytes above static", got=got)


@check(
    points=2, kind="values", stub="reconcile", hint="Impossible, open, explained, unexplained: the first that applies."
)
def test_public_reconcile(submission, rng):
    """gives each of the four labels"""
    unit = int(rng.integers(1000, 10**6))
    rows = [
        Row("a", 100 * unit, 60 * unit, 2, 16),
        Row("b", 100 * unit, 30 * unit, 2, 16),
        Row("c", 100 * unit, 60 * unit, 2),
        Row("d", 59 * unit, 60 * unit, 2),
    ]
    wanted = [("explained", 8), ("unexplained", 38), ("open", 40), ("impossible", -1)]
    order = rng.permutation(4)
    verdicts = expect.sequence("verdicts", submission.reconcile([rows[i] for i in order], unit), 4)
    for i, verdict in zip(order, verdicts):
        expect.that(type(verdict) is Verdict, "every row gets a Verdict")
        expect.equal("name", verdict.name, rows[i].name)
        expect.equal("label", verdict.label, wanted[i][0])
        off = expect.number("residue", verdict.residue) - wanted[i][1] * unit
        expect.that(abs(off) <= 1e-9 * rows[i].reported, "the residue is off")
        if verdict.label == "open":
            tokens = expect.number("implied_tokens", verdict.implied_tokens)
            expect.that(abs(tokens - 20) <= 1e-9 * 20, "the implied tokens are off")
