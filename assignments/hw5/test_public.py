"""Checks from closed forms and invariants: no solution is needed."""

import math

import numpy as np
import pytest
import torch

from autograder.checks import check, expect, raises
from course_lib import PAD, Data, Plan, fingerprint

CHECKPOINT = "runs/public.ckpt"


def _data(rng, rows=9, T=8, words=17):
    x, y = (torch.from_numpy(rng.integers(1, words, (rows, T))) for _ in range(2))
    for row, length in enumerate(rng.integers(2, T + 1, rows)):
        x[row, length:] = y[row, length:] = PAD
    vocab = ("<pad>", *(f"w{i}" for i in rng.permutation(900)[: words - 1]))
    return Data(x, y, vocab, fingerprint(x, y, vocab))


def _config(data, dropout=0.0):
    shape = {"vocab_size": len(data.vocab), "context": data.x.shape[1], "d_model": 8, "heads": 2, "layers": 1}
    return shape | {"dropout": dropout}


def _begin(submission, data, plan, seed, dropout=0.2):
    return submission.driver.begin(_config(data, dropout), None, data, plan, seed)


@check(points=2, kind="values", stub="learning_rate", hint="The warm-up ends at the peak, in step warmup - 1.")
@pytest.mark.parametrize("case", ["warm-up", "last-step", "half-way"])
def test_public_schedule(submission, rng, case):
    """rises in equal steps to the peak, ends at the floor, and is between them half-way"""
    peak, floor = rng.uniform(1e-3, 1e-2), rng.uniform(1e-5, 1e-4)
    plan = Plan(total=25, warmup=5, peak=peak, floor=floor)
    if case == "warm-up":
        for step in range(5):
            expect.close("learning rate", submission.learning_rate(step, plan), peak * (step + 1) / 5, floor_eps=64)
    elif case == "last-step":
        expect.close("learning rate", submission.learning_rate(24, plan), floor, floor_eps=64)
    else:
        expect.close("learning rate", submission.learning_rate(14, plan), (peak + floor) / 2, floor_eps=64)


@check(
    points=4,
    kind="values",
    stub="accumulate",
    hint="Every token weighs the same: divide by the number of targets of the whole batch, not of the microbatch.",
)
@pytest.mark.parametrize("micro", [1, 2, 5, 9], ids=lambda micro: f"micro{micro}")
def test_public_uniform_model(submission, rng, torch_rng, micro):
    """a model that finds all words equally likely has the loss log V and a known gradient"""
    counts, V = (50, 3, 0, 11, 1), 17
    used = np.arange(50) < np.asarray(counts)[:, None]
    x, y = (torch.from_numpy(np.where(used, rng.integers(1, V, used.shape), PAD)) for _ in range(2))
    config = {"vocab_size": V, "context": 50, "d_model": 8, "heads": 2, "layers": 1, "dropout": 0.0}
    model = submission.driver.model(config)
    values = expect.mapping("parameters", submission.driver.values(model))
    values = {name: (0 if name.startswith("head.") else 1) * expect.tensor(name, t) for name, t in values.items()}
    model = submission.driver.model(config, values)
    loss = expect.number("loss", submission.accumulate(model, x, y, micro))
    expect.close("loss", loss, math.log(V), floor_eps=5e9)
    gradient = expect.mapping("gradients", submission.driver.gradients(model)).get("head.bias")
    frequency = torch.bincount(y[y != PAD], minlength=V).double() / sum(counts)
    expect.close("gradient of head.bias", gradient, 1 / V - frequency, floor_eps=5e9)


@check(
    points=3,
    kind="exactness",
    stub="advance",
    hint="The sampler gives plan.batch indices per step; gradients are None when a step is over.",
)
def test_public_advance(submission, rng):
    """gives one loss per step, clears the gradients, and draws one batch of indices per step"""
    data, plan, seed = _data(rng), Plan(total=6, batch=4, micro=3), int(rng.integers(1 << 30))
    run = _begin(submission, data, plan, seed)
    begun = expect.mapping("state", submission.driver.state(run)).get("model.head.bias")
    (call,) = expect.sequence("calls", submission.driver.follow(run, 3, True), 1)
    losses, state = expect.sequence("a call", call, 2)
    for loss in expect.sequence("losses", losses, 3):
        expect.that(0 < expect.number("loss", loss) < 20, "a loss is not that of a small language model")
    expect.that(not submission.driver.left_gradients(run), "gradients are not None after the step")
    sampler = torch.Generator().manual_seed(seed + 1)
    for _ in range(3):
        torch.randint(len(data.x), (plan.batch,), generator=sampler)
    state = expect.mapping("state", state)
    expect.equal("state of the sampler", state.get("state of the sampler"), sampler.get_state())
    start, end = (expect.tensor("head.bias", bias, shape=(17,)) for bias in (begun, state.get("model.head.bias")))
    expect.that(not torch.equal(start, end), "training does not change the parameters")


@check(
    points=4,
    kind="exactness",
    stub="restore",
    hint="Compare your checkpoint with what the next step reads; what is missing in it?",
)
def test_public_resume(submission, rng):
    """a run restored in another process ends like the uninterrupted one, bit for bit"""
    data, plan, seed = _data(rng), Plan(total=5, batch=4, micro=2), int(rng.integers(1 << 30))
    whole = expect.sequence("steps", submission.driver.follow(_begin(submission, data, plan, seed), 5), 5)
    with submission.fresh() as first:
        run = _begin(first, data, plan, seed)
        first.driver.follow(run, 2)
        first.driver.save(run, CHECKPOINT)
        first.kill()
        files = first.files()
    expect.that(CHECKPOINT in files, "save has returned, and there is no file at its path")
    with submission.fresh(files={CHECKPOINT: files[CHECKPOINT]}) as later:
        resumed = _restore(later, data, plan)
        expect.equal("completed", resumed.completed, 2)
        rest = expect.sequence("steps", later.driver.follow(resumed, 5), 3)
    whole = [expect.sequence("step", step, 2) for step in whole]
    for step, (wanted, got) in enumerate(zip(whole[2:], rest), 2):
        got = expect.sequence("step", got, 2)
        expect.equal(f"losses of step {step}", got[0], expect.sequence("losses", wanted[0], 1))
        first = expect.mapping("state", wanted[1])
        for key, value in first.items():
            expect.equal(f"{key} after step {step}", expect.mapping("state", got[1], keys=first)[key], value)
    start, end = (expect.mapping("state", state).get("model.head.bias") for _, state in (whole[0], whole[-1]))
    moved = not torch.equal(
        expect.tensor("head.bias", start, shape=(17,)), expect.tensor("head.bias", end, shape=(17,))
    )
    expect.that(moved, "training does not change the parameters")


def _restore(submission, data, plan):
    """A run from the checkpoint, in a process whose generator was elsewhere."""
    run = submission.driver.restore(CHECKPOINT, data, plan, 4321)
    expect.that(type(run).__name__ == "Reference", "restore gives no run")
    return run


@check(
    points=2,
    kind="errors",
    stub="restore",
    hint="Compare what the checkpoint holds with what restore is given, before anything is built.",
)
@pytest.mark.parametrize("case", ["missing", "plan", "cut"])
def test_public_refusals(submission, rng, case):
    """a missing file is a FileNotFoundError; another plan or a cut file is a ValueError"""
    data, plan = _data(rng), Plan(total=5, batch=4, micro=2)
    run = _begin(submission, data, plan, int(rng.integers(1 << 30)))
    submission.driver.save(run, CHECKPOINT)
    content = expect.mapping("files", submission.driver.files()).get(CHECKPOINT)
    expect.that(isinstance(content, bytes), "save has returned, and there is no file at its path")
    saved, restored = (
        expect.mapping("state", submission.driver.state(one)).get("model.head.weight")
        for one in (run, _restore(submission, data, plan))
    )
    shape = expect.tensor("head.weight", saved, shape=(17, 8)).shape
    same = torch.allclose(saved.float(), expect.tensor("head.weight", restored, shape=shape).float())
    expect.that(same, "the restored parameters are not those that were saved")
    if case == "missing":
        with raises("FileNotFoundError"):
            submission.driver.restore("runs/another.ckpt", data, plan, 1)
    elif case == "plan":
        with raises("ValueError", match="batch"):
            submission.driver.restore(CHECKPOINT, data, Plan(total=5, batch=5, micro=2), 1)
    else:
        submission.driver.put(CHECKPOINT, content[: len(content) // 3])
        with raises("ValueError"):
            submission.driver.restore(CHECKPOINT, data, plan, 1)


@check(
    points=3,
    kind="exactness",
    stub="packing",
    hint="Two inputs see each other only in the same segment, and only backwards.",
)
def test_public_packing(submission):
    """gives the masks and positions of the example"""
    result = submission.packing(torch.tensor([0, 0, 0, 1, 1, 1]))
    allowed, used, positions = expect.sequence("result", result, 3)
    wanted = [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 1]]
    expect.equal("allowed", allowed, torch.tensor(wanted, dtype=torch.bool))
    expect.equal("targets_used", used, torch.tensor([True, True, False, True, True]))
    expect.equal("positions", expect.array("positions", positions).tolist(), [0, 1, 2, 0, 1])
