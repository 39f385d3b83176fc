"""Hidden checks of hw6: numbers are compared with the solution's on the same module, built here from the same seed."""

import importlib.util
from pathlib import Path

import pytest
import torch

from autograder.checks import check, expect, raises
from course_lib import Row, Verdict

SEEDS = 2**31


def _load_driver():
    spec = importlib.util.spec_from_file_location("hw6_driver", Path(__file__).with_name("driver.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


driver = _load_driver()


def judged(submission, solution, rng, case):
    """A measurement whose number is right, and the state that must have been left behind."""
    seed = int(rng.integers(SEEDS))
    facts = expect.mapping("measurement", submission.driver.measure(case, seed))
    with torch.random.fork_rng(devices=[]):
        module, inputs = driver.build(case, seed)
        before = driver.state_of(module, inputs)
        expect.equal("bytes", facts["bytes"], solution.activation_bytes(module, *inputs))
    return facts, before


# ------------------------------------------------------------------------------------------------------ arithmetic
@check(points=3, kind="exactness", stub="lora_parameters", hint="Two thin matrices per projection, one each way.")
@pytest.mark.parametrize("case", ["small", "large", "huge"])
def test_lora_parameters(submission, rng, case):
    """counts both factors of every adapter exactly"""
    high = {"small": 20, "large": 10**4, "huge": 10**12}[case]
    d_model, rank = (int(v) for v in rng.integers(high // 2, high, 2))
    layers, projections = int(rng.integers(10, 200)), int(rng.integers(2, 20))  # these may be counted one by one
    got = submission.lora_parameters(layers, projections, d_model, rank)
    expect.equal("lora_parameters", got, 2 * layers * projections * d_model * rank)


@check(points=5, kind="exactness", stub="static_bytes", hint="Only weights are paid for by frozen parameters as well.")
@pytest.mark.parametrize("case", ["defaults", "all-parts", "nothing-frozen", "nothing-trainable", "above-2^53"])
def test_static_bytes(submission, rng, case):
    """has exactly the five parts, as exact integers"""
    high = 2**60 if case == "above-2^53" else 10**7
    frozen, trainable = (int(v) for v in rng.integers(high // 2, high, 2))
    frozen = 0 if case == "nothing-frozen" else frozen
    trainable = 0 if case == "nothing-trainable" else trainable
    sizes = {"weight": 2, "grad": 2, "state": 8, "master": 0}
    if case != "defaults":
        sizes = dict(zip(sizes, (int(v) for v in rng.integers(1, 17, 4))))
    got = submission.static_bytes(frozen, trainable, **({} if case == "defaults" else sizes))
    wanted = {
        "weights": (frozen + trainable) * sizes["weight"],
        "grads": trainable * sizes["grad"],
        "optimizer": trainable * sizes["state"],
        "master": trainable * sizes["master"],
    }
    expect.equal("static_bytes", got, wanted | {"total": sum(wanted.values())})


# ------------------------------------------------------------------------------------------------- optimizer state
def optimizer_judged(submission, solution, rng, case, steps):
    seed = int(rng.integers(SEEDS))
    facts = expect.mapping("measurement", submission.driver.measure_optimizer(case, seed, steps))
    with torch.random.fork_rng(devices=[]):
        optimizer = driver.build_optimizer(case, seed, steps)
    expect.equal("bytes", facts["bytes"], solution.optimizer_state_bytes(optimizer))
    expect.equal("parameters and state after measuring", facts["state"], driver.optimizer_digests(optimizer))


@check(
    points=8,
    kind="memory",
    stub="optimizer_state_bytes",
    hint="Ask every tensor in optimizer.state for its own size; do not derive it from the weights.",
)
@pytest.mark.parametrize("case", list(driver.OPTIMIZERS))
def test_optimizer_state(submission, solution, rng, case):
    """counts the tensors that the optimizer holds"""
    if case == "sgd":  # nothing is right there, but only from who can count
        optimizer_judged(submission, solution, rng, "momentum", 1)
    optimizer_judged(submission, solution, rng, case, int(rng.integers(1, 4)))


@check(
    points=3,
    kind="memory",
    stub="optimizer_state_bytes",
    hint="State is made by the first step; measuring must not make it, and some optimizers make it at once.",
)
@pytest.mark.parametrize("case", ["momentum", "adam", "adagrad"])
def test_optimizer_before_first_step(submission, solution, rng, case):
    """reports what is held before the first step"""
    optimizer_judged(submission, solution, rng, "momentum", 1)  # nothing is right, but only from who can count
    optimizer_judged(submission, solution, rng, case, 0)


# ----------------------------------------------------------------------------------------------------- activations
STORAGES = [
    *("shared-saves", "equal-values", "views", "small-part-of-large", "expanded", "input-is-a-view", "tied", "masks"),
    *("transposed-parameter", "computed-weight", "in-place", "buffers", "attributes", "own-function", "inputs"),
    "precisions",
]
MODULES = [
    *("dropout", "evaluation", "mixed-modes", "batch-norm", "convolution", "frozen", "adapters", "nothing-to-learn"),
    *("nested", "checkpointed", "no-grad", "dict-output", "tuple-output", "autocast", "hooks", "replaced-buffer"),
]
UNTOUCHED = {
    "parameters": "inputs",
    "buffers": "batch-norm",
    "modes": "mixed-modes",
    "requires_grad": "frozen",
    "hooks": "hooks",
    "gradients": "inputs",
    "generator": "dropout",
    "grad-mode": "evaluation",
}


@check(
    points=3,
    kind="memory",
    stub="activation_bytes",
    hint="A linear layer saves its input and a view of its weight; recognise the weight by its storage.",
)
@pytest.mark.parametrize("case", ["basic"])
def test_activation_basic(submission, solution, rng, case):
    """counts what a small network saves, without its parameters"""
    judged(submission, solution, rng, case)
    judged(submission, solution, rng, case)


@check(
    points=13,
    kind="memory",
    stub="activation_bytes",
    hint="Count storages, not tensors: each once, with its own size, and none that a parameter or buffer lives in.",
    depends=[test_activation_basic],
)
@pytest.mark.parametrize("case", STORAGES)
def test_activation_storages(submission, solution, rng, case):
    """counts each saved storage once, with its own size"""
    judged(submission, solution, rng, case)


@check(
    points=9,
    kind="memory",
    stub="activation_bytes",
    hint="Do not derive the number from the layers: run the module as it is, and count what autograd saves.",
    depends=[test_activation_basic],
)
@pytest.mark.parametrize("case", MODULES)
def test_activation_modules(submission, solution, rng, case):
    """counts what a module saves in the mode it is in"""
    judged(submission, solution, rng, case)


@check(
    points=3,
    kind="memory",
    stub="activation_bytes",
    hint="Hand-written attention keeps matrices of T x T, the fused kernel keeps rows.",
    depends=[test_activation_basic],
)
@pytest.mark.parametrize("case", ["fused", "manual"])
def test_activation_attention(submission, solution, rng, case):
    """measures fused and hand-written attention at three lengths"""
    for tokens in (8, 24, 56):
        judged(submission, solution, rng, f"{case}-{tokens}")


@check(
    points=3,
    kind="memory",
    stub="activation_bytes",
    hint="With everything counted once, activations grow linearly with the batch and with the layers.",
    depends=[test_activation_basic],
)
def test_activation_grid(submission, solution, rng):
    """is linear in the batch and in the layers of a transformer"""
    seed = int(rng.integers(SEEDS))
    judged(submission, solution, rng, "grid-1x1")
    sizes = {}
    for layers in (1, 2, 4):
        for batch in (1, 2, 3):
            facts = expect.mapping("measurement", submission.driver.measure(f"grid-{layers}x{batch}", seed))
            sizes[layers, batch] = expect.integer("bytes", facts["bytes"])
    for (layers, batch), size in sizes.items():
        expect.that(size == layers * batch * sizes[1, 1], "the bytes are not linear in the batch and in the layers")


@check(
    points=2,
    kind="memory",
    stub="activation_bytes",
    hint="Networks from torchvision work in place, branch and concatenate; only storages tell what is new.",
    depends=[test_activation_basic],
    requires=["torchvision"],
)
@pytest.mark.parametrize("case", ["resnet10", "mobilenet_v3_small", "squeezenet1_1"])
def test_activation_torchvision(submission, solution, rng, case):
    """measures convolutional networks"""
    judged(submission, solution, rng, case)


@check(
    points=2,
    kind="counts",
    stub="activation_bytes",
    hint="One forward pass is enough, and it must be the module's own.",
    depends=[test_activation_basic],
)
@pytest.mark.parametrize("case", ["basic", "batch-norm", "nested"])
def test_activation_one_forward(submission, solution, rng, case):
    """runs forward once"""
    facts, _ = judged(submission, solution, rng, case)
    expect.equal("forward passes", facts["forwards"], 1)


@check(
    points=5,
    kind="robustness",
    stub="activation_bytes",
    hint="A forward pass in training mode changes things. Save and restore them, or let a copy be changed.",
    depends=[test_activation_basic],
)
@pytest.mark.parametrize("part", list(UNTOUCHED))
def test_activation_leaves(submission, solution, rng, part):
    """leaves the module, its gradients and the random generator as they were"""
    facts, before = judged(submission, solution, rng, UNTOUCHED[part])
    after = expect.mapping("state", facts["state"])
    expect.equal("forward passes", facts["forwards"], 1)
    expect.equal(part, after[part], before[part])


@check(
    points=2,
    kind="robustness",
    stub="activation_bytes",
    hint="Forward may put a new tensor where a buffer was: put the old object back, with its old values.",
    depends=[test_activation_basic],
)
@pytest.mark.parametrize("case", ["replaced-buffer", "batch-norm", "tied"])
def test_activation_keeps_identity(submission, solution, rng, case):
    """leaves the same parameter and buffer objects with the same values"""
    facts, before = judged(submission, solution, rng, case)
    after = expect.mapping("state", facts["state"])
    expect.equal("forward passes", facts["forwards"], 1)
    expect.equal("buffers", after["buffers"], before["buffers"])
    expect.equal("parameters", after["parameters"], before["parameters"])
    expect.equal("same buffer objects", facts["same_buffers"], True)
    expect.equal("same parameter objects", facts["same_parameters"], True)


# ------------------------------------------------------------------------------------------------ inverse problems
def near(name, got, wanted, scale):
    """`got` is `wanted` to 1e-9 of `scale`."""
    expect.that(abs(expect.number(name, got) - wanted) <= 1e-9 * scale, f"{name} is off", expected=wanted, got=got)


def line_rows(rng, count, noise=0):
    batches = [int(b) for b in rng.permutation(64)[:count] + 1]
    fixed, slope = int(rng.integers(2**34, 2**40)), int(rng.integers(2**20, 2**32))
    return [(b, fixed + slope * b + int(rng.integers(-noise, noise + 1))) for b in batches]


@check(
    points=3,
    kind="exactness",
    stub="solve_fixed_and_slope",
    hint="Two points: the slope first, then what is left.",
    all_or_nothing=True,
)
@pytest.mark.parametrize("case", ["increasing", "decreasing", "no-slope", "negative-fixed", "small", "large"])
def test_line_through_two(submission, rng, case):
    """is exact for two rows"""
    rows = sorted(line_rows(rng, 2), reverse=case == "decreasing")
    if case == "no-slope":
        rows = [(batch, rows[0][1] + 1) for batch, _ in rows]
    if case == "negative-fixed":
        growth = int(rng.integers(2**20, 2**21))
        rows = [(batch, batch**2 * growth) for batch, _ in rows]
    if case == "small":  # where half a byte more or less is seen
        rows = [(batch, int(rng.integers(100, 1000))) for batch, _ in rows]
        rows[1] = (rows[0][0] + 2, rows[0][1] + 2 * int(rng.integers(500)) + 1)
    if case == "large":
        rows = [(batch, size * 2**20 + 1) for batch, size in rows]
    fixed, slope = expect.sequence("result", submission.solve_fixed_and_slope(rows), 2)
    (b0, y0), (b1, y1) = rows
    exact, largest = (y1 - y0) / (b1 - b0), max(y0, y1)
    near("per_sample", slope, exact, largest)
    near("fixed", fixed, y0 - exact * b0, largest)
    for batch, size in rows:
        near("the line at a row", expect.number("fixed", fixed) + expect.number("slope", slope) * batch, size, largest)


@check(
    points=3,
    kind="values",
    stub="solve_fixed_and_slope",
    hint="With more rows than two, use all of them: least squares.",
)
@pytest.mark.parametrize("case", ["on-a-line", "scattered", "repeated-batches", "many"])
def test_line_least_squares(submission, solution, rng, case):
    """is the line of least squares for more rows"""
    count = 20 if case == "many" else int(rng.integers(3, 7))
    rows = line_rows(rng, count, noise=0 if case == "on-a-line" else 2**33)
    if case == "repeated-batches":
        rows += [(batch, size + int(rng.integers(2**33))) for batch, size in rows[:2]] + rows[:1] * 2
    fixed, slope = expect.sequence("result", submission.solve_fixed_and_slope(rows), 2)
    wanted, largest = solution.solve_fixed_and_slope(rows), max(size for _, size in rows)
    near("fixed", fixed, wanted[0], largest)
    near("per_sample", slope, wanted[1], largest / 64)


@check(
    points=2,
    kind="errors",
    stub="solve_fixed_and_slope",
    hint="One batch size, however often, determines no line.",
)
@pytest.mark.parametrize("case", ["no-rows", "one-row", "equal-rows", "equal-batches"])
def test_line_errors(submission, rng, case):
    """refuses rows that determine no line"""
    ((batch, size),) = line_rows(rng, 1)
    rows = {
        "no-rows": [],
        "one-row": [(batch, size)],
        "equal-rows": [(batch, size)] * 2,
        "equal-batches": [(batch, size), (batch, size + 1), (batch, 2 * size)],
    }[case]
    lines = [expect.sequence("result", submission.solve_fixed_and_slope(line_rows(rng, 2)), 2) for _ in range(2)]
    lines = [[expect.number("a number of the line", number) for number in line] for line in lines]
    expect.that(lines[0] != lines[1], "all rows have the same line")
    with raises("ValueError"):
        submission.solve_fixed_and_slope(rows)


@check(
    points=2,
    kind="values",
    stub="implied_tokens",
    hint="Solve the prediction for the tokens; they may be negative.",
    all_or_nothing=True,
)
@pytest.mark.parametrize("case", ["whole", "fraction", "negative", "none"])
def test_implied_tokens(submission, rng, case):
    """inverts the prediction"""
    static, per_token, batch = (
        int(rng.integers(2**34, 2**38)),
        int(rng.integers(2**12, 2**22)),
        int(rng.integers(2, 64)),
    )
    fraction = int(rng.integers(1, 2**36)) * 2 + 1
    above = {
        "whole": int(rng.integers(1, 5000)) * per_token * batch,
        "negative": -int(rng.integers(1, static)),
        "none": 0,
    }
    for extra in (fraction, above.get(case, fraction)):
        tokens = expect.number("tokens", submission.implied_tokens(static + extra, static, per_token, batch))
        wanted = extra / (per_token * batch)
        expect.that(abs(tokens - wanted) <= 1e-12 * abs(wanted), "the tokens do not account for the bytes above static")


# ------------------------------------------------------------------------------------------------- reconciliation
def random_row(rng, name, per_token, label, tolerance):
    """A row that deserves `label`, well away from the boundaries."""
    static, batch, tokens = int(rng.integers(2**30, 2**34)), int(rng.integers(1, 33)), int(rng.integers(64, 4096))
    predicted = static + per_token * tokens * batch
    if label == "impossible":
        return Row(name, int(static * rng.uniform(0.3, 0.95)), static, batch, None if rng.random() < 0.5 else tokens)
    if label == "open":
        return Row(name, static + int(rng.integers(1, 2**34)), static, batch)
    off = {"explained": rng.uniform(0.1, 0.8), "unexplained": rng.uniform(1.2, 3.0)}[label] * tolerance
    sign = 1 if rng.random() < 0.5 else -1
    reported = (
        int(predicted / (1 + sign * off)) if predicted / (1 + sign * off) > static else int(predicted / (1 - off))
    )
    return Row(name, reported, static, batch, tokens)


def same_labels(got, wanted, rows):
    verdicts = expect.sequence("verdicts", got, len(rows))
    for verdict, right in zip(verdicts, wanted):
        expect.that(type(verdict) is Verdict, "every row gets a Verdict")
        expect.equal("name", verdict.name, right.name)
        expect.equal("label", verdict.label, right.label)
    return verdicts


def same_verdicts(got, wanted, rows):
    for row, verdict, right in zip(rows, same_labels(got, wanted, rows), wanted):
        near("residue", verdict.residue, right.residue, max(row.reported, abs(right.residue)))
        if right.label == "open":
            near("implied_tokens", verdict.implied_tokens, right.implied_tokens, abs(right.implied_tokens))


@check(
    points=3,
    kind="values",
    stub="reconcile",
    hint="Decide label by label, in the order in which they are listed.",
    all_or_nothing=True,
)
@pytest.mark.parametrize("case", ["explained", "unexplained", "open", "impossible", "mixed"])
def test_reconcile_labels(submission, solution, rng, case):
    """labels every row, in the order of the rows"""
    per_token, labels = int(rng.integers(2**14, 2**20)), ["explained", "unexplained", "open", "impossible"]
    chosen = [case] * 4 if case != "mixed" else [labels[i] for i in rng.integers(0, 4, 12)]
    names = [f"run {n}" for n in (rng.permutation(100)[:4] if case != "mixed" else rng.integers(0, 6, 12))]
    rows = [random_row(rng, name, per_token, label, 0.1) for name, label in zip(names, chosen)]
    got = submission.reconcile(rows, per_token)
    same_verdicts(got, solution.reconcile(rows, per_token), rows)


@check(
    points=3,
    kind="values",
    stub="reconcile",
    hint="The tolerance is an argument, and a share of what was reported, in both directions.",
)
@pytest.mark.parametrize("case", ["strict", "loose"])
def test_reconcile_tolerance(submission, solution, rng, case):
    """uses the tolerance it is given"""
    tolerance, per_token = {"strict": 0.02, "loose": 0.4}[case], int(rng.integers(2**14, 2**20))
    chosen = ["explained", "unexplained"] * 4
    rows = [random_row(rng, f"run {n}", per_token, label, tolerance) for n, label in enumerate(chosen)]
    same_labels(submission.reconcile(rows, per_token, tolerance), solution.reconcile(rows, per_token, tolerance), rows)
    got = submission.reconcile(rows, per_token, tolerance=2 * tolerance)
    same_labels(got, solution.reconcile(rows, per_token, 2 * tolerance), rows)


@check(
    points=3,
    kind="exactness",
    stub="reconcile",
    hint="The boundary itself is explained, exactly static is possible, no tokens at all is a known number.",
)
@pytest.mark.parametrize("case", ["tolerance", "static", "no-tokens", "impossible-first"])
def test_reconcile_boundaries(submission, solution, rng, case):
    """draws its boundaries where the contract says"""
    scale, per_token = int(rng.integers(3, 100)) * 64, 4
    rows = {
        # reported - predicted is exactly a quarter of what was reported, or one byte more
        "tolerance": [
            Row("inside above", 8 * scale, 2 * scale, 1, scale),
            Row("outside above", 8 * scale, 2 * scale - 1, 1, scale),
            Row("inside below", 8 * scale, 6 * scale, 1, scale),
            Row("outside below", 8 * scale, 6 * scale + 1, 1, scale),
        ],
        "static": [
            Row("possible", scale, scale, 2, 0),
            Row("below", scale - 1, scale, 2, 0),
            Row("open", scale, scale, 2),
            Row("far below", scale, 2 * scale, 2, 0),
        ],
        "no-tokens": [
            Row("explained", 8 * scale, 7 * scale, 3, 0),
            Row("unexplained", 8 * scale, 5 * scale, 3, 0),
            Row("open", 8 * scale, 5 * scale, 3),
        ],
        "impossible-first": [
            Row("unknown", scale, scale + 1, 2),
            Row("close", 8 * scale, 8 * scale + 1, 2, 1),
            Row("far", scale, 9 * scale, 2, scale),
            Row("possible", 8 * scale, 7 * scale, 2, 0),
        ],
    }[case]
    got = submission.reconcile(rows, per_token, tolerance=0.25)
    same_labels(got, solution.reconcile(rows, per_token, tolerance=0.25), rows)
