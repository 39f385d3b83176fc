"""Checks that compare with the solution, and those that break off a run: other processes, crashes, full disks."""

import io
import os
import pickle
import re
import zipfile
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from autograder.checks import OverLimit, SubmissionDied, SubmissionRaised, check, expect, fail, raises
from course_lib import PAD, Data, DropoutLanguageModel, Plan, fingerprint

torch.set_num_threads(1)  # as in the submission's process; the models are far too small for more

LOOSE = 5e9  # in eps of float64, about 1e-6: any summation order passes, and a loss computed in float32
CHECKPOINT = "runs/run.ckpt"
PLAN = Plan(total=6, warmup=2, peak=4e-3, floor=5e-4, batch=5, micro=5, clip=0.6, weight_decay=0.02)


# ------------------------------------------------------------------------------------------------------------- material
def _batch(rng, counts, T, words=20):
    """Rows with these numbers of targets, at their beginnings: (x, y), both (len(counts), T)."""
    used = np.arange(T) < np.asarray(counts)[:, None]
    x, y = (np.where(used, rng.integers(1, words, used.shape), PAD) for _ in range(2))
    return torch.from_numpy(x), torch.from_numpy(y)


def _vocab(rng, size=20):
    return ("<pad>", *(f"word{i}" for i in rng.permutation(1000)[: size - 1]))


def _data(rng, rows=11, T=8):
    x, y = _batch(rng, rng.integers(2, T + 1, rows), T)
    vocab = _vocab(rng)
    return Data(x, y, vocab, fingerprint(x, y, vocab))


def _config(x, dropout=0.0, **changes):
    """An architecture that cannot be guessed from the data."""
    shape = {"vocab_size": 23, "context": x.shape[1] + 2, "d_model": 12, "heads": 3, "layers": 1, "ffn": 20}
    return shape | {"attention": "manual", "dropout": dropout} | changes


def _values(config, torch_rng):
    """Parameters of a model of this architecture, far from their initialisation."""
    with torch.random.fork_rng(devices=[]):
        like = DropoutLanguageModel(**config).state_dict()
    noise = {name: torch.randn(t.shape, dtype=torch.float64, generator=torch_rng) for name, t in like.items()}
    return {name: (0.3 * t + 1 if "norm" in name and "weight" in name else 0.3 * t) for name, t in noise.items()}


def _model(config, values):
    with torch.random.fork_rng(devices=[]):
        model = DropoutLanguageModel(**config).double()
    model.load_state_dict(values)
    return model


def _full_batch(config, values, x, y, of=None):
    """(loss, gradients) of one backward pass over all rows, divided by the targets of `of` (default: of y)."""
    model = _model(config, values)
    total = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), ignore_index=PAD, reduction="sum")
    loss = total / (y if of is None else of).ne(PAD).sum()
    loss.backward()
    return loss.item(), {name: p.grad for name, p in model.named_parameters()}


def _same_gradients(got, wanted):
    got = expect.mapping("gradients", got, keys=wanted.keys())
    for name, reference in wanted.items():
        expect.close(f"gradient of {name}", got[name], reference, floor_eps=LOOSE)


class Setup:
    """What a run is made of; the student's process and the grader's make equal runs from it."""

    def __init__(self, rng, torch_rng, plan=PLAN, dropout=0.25, drawn=0):
        self.data, self.plan, self.drawn = _data(rng), plan, drawn
        self.config = _config(self.data.x, dropout)
        self.values = _values(self.config, torch_rng)
        self.seed, self.other_seed = (int(seed) for seed in rng.integers(1 << 30, size=2))

    def begin(self, submission, groups=1):
        return submission.driver.begin(self.config, self.values, self.data, self.plan, self.seed, groups, self.drawn)

    def restore(self, submission, path=CHECKPOINT):
        """(run, completed steps) from a checkpoint."""
        run = submission.driver.restore(path, self.data, self.plan, self.other_seed)
        expect.that(type(run).__name__ == "Reference", "restore gives no run")
        return run, expect.integer("completed", run.completed)

    def uninterrupted(self, submission, stop=None):
        """[state before the first step, state after it, ...], each with the losses of the step."""
        run = self.begin(submission)
        stop = self.plan.total if stop is None else stop
        return [([], submission.driver.state(run)), *_follow(submission, run, 0, stop)]


def _follow(submission, run, start, stop):
    """[(losses, state)] after each step from `start` on."""
    followed = expect.sequence("steps", submission.driver.follow(run, stop), stop - start)
    return [tuple(expect.sequence("a step", step, 2)) for step in followed]


def _compare(wanted, got, step, when):
    """Both states are equal bit by bit; otherwise name the step and the first key that differs."""
    (losses, state), (got_losses, got_state) = wanted, got
    if not _equal(losses, got_losses):
        fail(f"{when}, the loss of step {step} is not the one of the uninterrupted run")
    got_state = expect.mapping("state", got_state)
    for key, value in expect.mapping("state", state).items():
        if key not in got_state:
            fail(f"{when}, there is no {key} {_after(step)}")
        if not _equal(value, got_state[key]):
            fail(f"{when}, the first difference is {_after(step)}: {key}")


def _after(step):
    return "before the next step" if step is None else f"after step {step}"


def _equal(a, b):
    """Equal bit by bit; never an error, whatever arrives."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return isinstance(a, bool | int | float | str | bytes | type(None)) and a == b


# ------------------------------------------------------------------------------------------------------------- schedule
@check(
    points=4,
    kind="values",
    stub="learning_rate",
    hint="At step = warmup the cosine has already begun: f is 1/(total - warmup) there, and 1 at the last step.",
)
@pytest.mark.parametrize("case", ["default", "long", "no-warmup", "short-warmup"])
def test_schedule(submission, solution, rng, case):
    """follows the warm-up and the cosine at every step"""
    peak, floor = rng.uniform(1e-3, 1e-2), rng.uniform(1e-5, 1e-4)
    total, warmup = {"default": (12, 3), "long": (41, 10), "no-warmup": (9, 0), "short-warmup": (7, 1)}[case]
    plan = Plan(total=total, warmup=warmup, peak=peak, floor=floor)
    for step in range(total):
        rate = expect.number("learning rate", submission.learning_rate(step, plan))
        expect.close("learning rate", rate, solution.learning_rate(step, plan), floor_eps=64)
    expect.close("last learning rate", rate, floor, floor_eps=64)


# ----------------------------------------------------------------------------------------------------------- accumulate
@check(
    points=8,
    kind="values",
    stub="accumulate",
    hint="Divide the summed loss of every microbatch by the number of targets (y != PAD) of the whole batch.",
)
@pytest.mark.parametrize("case", ["ragged", "gaps", "empty-microbatch", "one-row"])
def test_accumulate_values(submission, rng, torch_rng, case):
    """loss and gradients equal those of one full batch, however the batch is cut"""
    counts, T = {
        "ragged": ((50, 3, 0, 11), 50),
        "gaps": ((9, 9, 9, 9, 9), 9),
        "empty-microbatch": ((0, 0, 7, 1, 0, 0, 12), 12),
        "one-row": ((6,), 7),
    }[case]
    for micro in (1, 2, 3, len(counts) + 3):
        x, y = _batch(rng, counts, T)
        if case == "gaps":  # a target may be missing anywhere, also where the input is a word, and the other way round
            y[torch.from_numpy(rng.random(y.shape) < np.linspace(0.1, 0.9, len(y))[:, None])] = PAD
            x[torch.from_numpy(rng.random(x.shape) < 0.2)] = PAD
            y[0, 0] = 1
        config = _config(x)
        values = _values(config, torch_rng)
        loss, gradients = _full_batch(config, values, x, y)
        got = expect.sequence("result", submission.driver.accumulated(config, values, x, y, micro), 3)
        expect.that(type(got[0]) is float, f"the loss is a {expect.describe(got[0])}, not a Python float")
        expect.close("loss", got[0], loss, floor_eps=LOOSE)
        _same_gradients(got[1], gradients)
        kept = expect.mapping("kept", got[2], keys=("training", "rng"))
        expect.that(kept["training"] is True, "the model is left in another mode than it was in")
        expect.that(kept["rng"] is True, "random numbers are drawn although the model has no dropout")


@check(
    points=4,
    kind="exactness",
    stub="accumulate",
    depends=[test_accumulate_values],
    hint="Clearing gradients, and scaling what is already in .grad, is not accumulate's business.",
)
@pytest.mark.parametrize("case", ["ragged"])
def test_accumulate_adds(submission, rng, torch_rng, case):
    """adds to the gradients that are there, call after call"""
    x, y = _batch(rng, (11, 2, 0, 5, 7), 11)
    config = _config(x)
    values = _values(config, torch_rng)
    total = {name: torch.randn(t.shape, dtype=t.dtype, generator=torch_rng) for name, t in values.items()}
    model = submission.driver.model(config, values, total)
    for micro in (2, 4):
        x, y = _batch(rng, (11, 2, 0, 5, 7), 11)
        submission.accumulate(model, x, y, micro)
        _, gradients = _full_batch(config, values, x, y)
        total = {name: t + gradients[name] for name, t in total.items()}
        _same_gradients(submission.driver.gradients(model), total)


@check(
    points=2,
    kind="errors",
    stub="accumulate",
    hint="Count the targets of the whole batch first; without any there is nothing to divide by.",
)
@pytest.mark.parametrize("micro", [1, 2, 5], ids=lambda micro: f"micro{micro}")
def test_no_target(submission, rng, torch_rng, micro):
    """a batch without any target is a ValueError"""
    x, y = _batch(rng, (4, 7, 2), 7)
    config = _config(x)
    model = submission.driver.model(config, _values(config, torch_rng))
    with raises("ValueError"):
        submission.accumulate(model, x, torch.full_like(y, PAD), micro)
    y[:-1] = PAD  # one row is enough
    expect.that(expect.number("loss", submission.accumulate(model, x, y, micro)) > 0, "the loss is not positive")
    gradients = expect.mapping("gradients", submission.driver.gradients(model))
    expect.that(all(g is not None for g in gradients.values()), "a batch with targets has left no gradient")


@check(
    points=4,
    kind="errors",
    stub="accumulate",
    hint=(
        "Look at the loss of each microbatch before its backward pass, for infinities as well as NaN, and name "
        "its index."
    ),
)
@pytest.mark.parametrize(
    ("value", "index"), [(float("nan"), 4), (float("-inf"), 3), (float("-inf"), 0)], ids=["nan", "infinite", "first"]
)
def test_nonfinite_loss(submission, rng, torch_rng, value, index):
    """a loss that is not finite is a FloatingPointError that names the microbatch, before its backward pass"""
    micro = 2
    x, y = _batch(rng, rng.integers(3, 9, 14), 9)
    config = _config(x)
    values = _values(config, torch_rng)
    planted = {name: torch.randn(t.shape, dtype=t.dtype, generator=torch_rng) for name, t in values.items()}
    model = submission.driver.model(config, values, planted)
    expect.that(np.isfinite(expect.number("loss", submission.accumulate(model, x, y, micro))), "the loss is not finite")
    got = expect.mapping("gradients", submission.driver.gradients(model), keys=planted.keys())
    expect.that(any(not _equal(got[name], t) for name, t in planted.items()), "a finite loss has left no gradient")
    said = []
    for bad in ((index + 2) % 7, index):
        model = submission.driver.model(config, values, planted)
        x_bad, y_bad = _marked(x, y, micro * bad)
        submission.driver.spoil(model, MARKER, value)
        said.append(_refused_loss(submission, model, x_bad, y_bad, micro, bad))
    expect.that(said[0] != said[1], "the error says the same whichever microbatch it is")
    _only_earlier(submission.driver.gradients(model), planted, config, values, x_bad, y_bad, micro, index)


MARKER = 21  # a word that stands in one row only, whose logits are then spoiled


def _marked(x, y, row):
    x, y = x.clone(), y.clone()
    x[row, 0] = y[row, 1] = MARKER
    return x, y


def _refused_loss(submission, model, x, y, micro, index):
    """The message with which a loss that is not finite is refused; it names the microbatch."""
    try:
        submission.accumulate(model, x, y, micro)
    except SubmissionRaised as caught:
        raised = caught
    else:
        fail("no error although the loss of a microbatch is not finite")
    expect.that("FloatingPointError" in raised.bases, f"{raised.type_name} is raised, not FloatingPointError")
    numbers = {int(n) for n in re.findall(r"\d+", raised.message)}
    expect.that(bool(numbers & {index, index + 1, index * micro}), "the error does not name the microbatch")
    return raised.message


def _only_earlier(got, planted, config, values, x, y, micro, index):
    """The gradients are made of what was planted and of the microbatches before number `index`."""
    got = expect.mapping("gradients", got, keys=planted.keys())
    flat = {
        name: torch.zeros_like(t) if got[name] is None else expect.tensor(name, got[name], shape=t.shape)
        for name, t in planted.items()
    }
    parts = [planted]
    for start in range(0, index * micro, micro):
        rows = slice(start, start + micro)
        parts.append(_full_batch(config, values, x[rows], y[rows], of=y)[1])
    left = torch.cat([t.double().flatten() for t in flat.values()])
    expect.that(bool(torch.isfinite(left).all()), "gradients are not finite: the bad microbatch went through backward")
    basis = torch.stack([torch.cat([part[name].flatten() for name in planted]) for part in parts], 1)
    residue = left - basis @ torch.linalg.lstsq(basis, left[:, None]).solution[:, 0]
    expect.that(float(residue.norm()) <= 1e-6 * float(left.norm() + 1), "the bad microbatch has changed the gradients")


# -------------------------------------------------------------------------------------------------------------- advance
@check(
    points=8,
    kind="values",
    stub="advance",
    hint=(
        "Accumulate all microbatches, then clip the norm of the whole gradient once, then step with this step's "
        "learning rate."
    ),
)
@pytest.mark.parametrize("case", ["accumulated", "dropout"])
def test_advance_values(submission, solution, rng, torch_rng, case):
    """losses, parameters and moments are those of the reference"""
    if case == "accumulated":  # clipping acts in every step
        setup = Setup(rng, torch_rng, replace(PLAN, batch=7, micro=3, clip=0.05, total=9), dropout=0.0)
    else:  # one microbatch: the masks do not depend on how a batch is cut
        setup = Setup(rng, torch_rng, replace(PLAN, clip=1e3), dropout=0.3)
    stop = 4
    whole = setup.uninterrupted(submission, stop)
    for step, (loss, _) in enumerate(wanted := _reference(setup, solution, stop)):
        losses = expect.sequence("losses", whole[step + 1][0], 1)
        expect.that(type(losses[0]) is float, "losses are not Python floats")
        expect.close(f"loss of step {step}", losses[0], loss, floor_eps=LOOSE)
    state = expect.mapping("state", whole[-1][1])
    for name, (value, *moments) in wanted[-1][1].items():
        for key, moment in zip(("exp_avg", "exp_avg_sq"), moments):  # clipping may add an epsilon to the norm or not
            expect.close(f"{key} of {name}", state.get(f"optimizer.{key} of {name}"), moment, floor_eps=100 * LOOSE)
        begun, got = setup.values[name], expect.tensor(name, state.get(f"model.{name}"), shape=value.shape)
        expect.close(f"change of {name}", got - begun, value - begun, floor_eps=10_000 * LOOSE)


def _reference(setup, solution, stop):
    """[(loss, {name: (parameter, first moment, second moment)})] after each step, AdamW written out."""
    plan, (b1, b2) = setup.plan, (0.9, 0.999)
    now, seen = {name: (t, torch.zeros_like(t), torch.zeros_like(t)) for name, t in setup.values.items()}, []
    sampler = torch.Generator().manual_seed(setup.seed + 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(setup.seed)
        for step in range(stop):
            rows = torch.randint(len(setup.data.x), (plan.batch,), generator=sampler)
            parameters = {name: value for name, (value, _, _) in now.items()}
            loss, gradients = _full_batch(setup.config, parameters, setup.data.x[rows], setup.data.y[rows])
            norm = torch.stack([g.norm() for g in gradients.values()]).norm()
            rate, t = solution.learning_rate(step, plan), step + 1
            for name, (value, m, v) in now.items():
                g = gradients[name] * min(1.0, plan.clip / norm)
                m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
                move = m / (1 - b1**t) / ((v / (1 - b2**t)).sqrt() + 1e-8)
                now[name] = value * (1 - rate * plan.weight_decay) - rate * move, m, v
            seen.append((loss, dict(now)))
    return seen


@check(
    points=4,
    kind="exactness",
    stub="advance",
    hint=(
        "One torch.randint(len(data.x), (plan.batch,), generator=sampler) per step, and nothing else draws but dropout."
    ),
)
@pytest.mark.parametrize("case", ["one-microbatch", "ragged"])
def test_advance_draws(submission, rng, torch_rng, case):
    """draws from the sampler exactly one batch of indices per step, from the global generator only dropout"""
    setup = Setup(rng, torch_rng, replace(PLAN, micro=5 if case == "one-microbatch" else 2), dropout=0.0)
    whole = setup.uninterrupted(submission, 3)
    sampler = torch.Generator().manual_seed(setup.seed + 1)
    first = expect.mapping("state", whole[0][1])
    for step, (_, state) in enumerate(whole[1:]):
        torch.randint(len(setup.data.x), (setup.plan.batch,), generator=sampler)
        state = expect.mapping("state", state)
        same = _equal(sampler.get_state(), state.get("state of the sampler"))
        expect.that(same, f"the sampler is elsewhere after step {step}")
        same = _equal(first.get("state of the global generator"), state.get("state of the global generator"))
        expect.that(same, f"the global generator was used in step {step}, although there is no dropout")
    _trains(whole)


def _trains(whole):
    """The parameters have moved and the losses are numbers that change; how far, other checks judge."""
    first, last = (expect.mapping("state", state) for _, state in (whole[0], whole[-1]))
    moved = [key for key in first if key.startswith("model.") and not _equal(first[key], last.get(key))]
    expect.that(bool(moved), "training does not change the parameters")
    losses = [expect.number("loss", expect.sequence("losses", losses, 1)[0]) for losses, _ in whole[1:]]
    expect.that(bool(np.isfinite(losses).all()) and len(set(losses)) == len(losses), "losses repeat or are not finite")


@check(
    points=4,
    kind="exactness",
    stub="advance",
    hint=(
        "Clear gradients before accumulating and after the step, set the rate of every group, and count steps "
        "from start."
    ),
)
def test_advance_is_clean(submission, solution, rng, torch_rng):
    """neither old gradients nor the way steps are grouped into calls matter; every group gets the step's rate"""
    setup = Setup(rng, torch_rng)
    whole = setup.uninterrupted(submission, 4)
    _trains(whole)
    stale = setup.begin(submission)
    submission.driver.plant_in(stale, setup.other_seed)
    (stepped,) = _follow(submission, stale, 0, 1)
    _compare(whole[1], stepped, 0, "with old gradients in the model")
    left = expect.sequence("gradients left", submission.driver.left_gradients(stale))
    expect.that(not left, "gradients are not None after the step")

    run = setup.begin(submission)
    (at_once,) = expect.sequence("calls", submission.driver.follow(run, 4, True), 1)
    losses, state = expect.sequence("a step", at_once, 2)
    at_once = expect.sequence("losses", losses, 4), state
    _compare(([loss for losses, _ in whole for loss in losses], whole[-1][1]), at_once, 3, "in one call for four steps")
    nothing = submission.advance(run.model, run.optimizer, run.sampler, setup.data, 4, 4, setup.plan)
    expect.sequence("losses of no step", nothing, 0)

    groups = setup.begin(submission, groups=3)
    submission.driver.follow(groups, 2)
    for rate in expect.sequence("learning rates", submission.driver.rates(groups), 3):
        expect.close("learning rate of a group", rate, solution.learning_rate(1, setup.plan), floor_eps=64)


@check(
    points=3,
    kind="errors",
    stub="advance",
    hint="clip_grad_norm_ can raise by itself: error_if_nonfinite. Without it the parameters become NaN.",
)
@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=["nan", "infinite"])
def test_nonfinite_norm(submission, rng, torch_rng, value):
    """a gradient whose norm is not finite raises, and leaves the parameters as they were"""
    setup = Setup(rng, torch_rng, replace(PLAN, micro=2))
    run = setup.begin(submission)
    _trains([([], submission.driver.state(run)), *_follow(submission, run, 0, 2)])
    before = submission.driver.state(run)
    submission.driver.poison_gradient(run, value)
    try:
        submission.driver.follow(run, 3)
    except SubmissionRaised:
        pass
    else:
        fail("no error although the norm of the gradient is not finite")
    after = expect.mapping("state", submission.driver.state(run))
    for key, tensor in expect.mapping("state", before).items():
        if key.startswith("model."):
            expect.that(_equal(tensor, after.get(key)), "the parameters have changed")


# --------------------------------------------------------------------------------------------------------------- resume
@check(
    points=11,
    kind="exactness",
    stub="restore",
    hint=(
        "Everything the next step depends on must come back: moments and step counts, the sampler, and torch's "
        "generator last."
    ),
)
def test_resume_is_exact(submission, rng, torch_rng):
    """a run restored in a new process goes on bit for bit, whichever step it was saved after"""
    setup = Setup(rng, torch_rng, drawn=7)  # a sampler has a past that neither its seed nor the steps tell
    whole, total = setup.uninterrupted(submission), setup.plan.total
    _truthful(setup, whole)
    checkpoints = _saved_after_every_step(submission, setup)
    with submission.fresh(files=checkpoints) as later:
        for split in range(total + 1):
            run, completed = setup.restore(later, _at(split))
            expect.equal("completed", completed, split)
            _compare(([], whole[split][1]), ([], later.driver.state(run)), None, f"restored after {split} steps")
            for step, got in enumerate(_follow(later, run, split, total), split):
                _compare(whole[step + 1], got, step, f"restored after {split} steps")

        without, _ = setup.restore(later, _at(3))  # the comparison can see a difference
        later.driver.forget_optimizer(without)
        states = expect.mapping("state", _follow(later, without, 3, total)[-1][1])
        same = all(_equal(value, states.get(key)) for key, value in whole[-1][1].items() if key.startswith("model."))
        expect.that(not same, "the run does not depend on the optimizer's state")


def _at(step):
    return f"runs/after-{step}.ckpt"


def _saved_after_every_step(submission, setup):
    """The checkpoints of a process that is killed in the end, by name."""
    with submission.fresh() as first:
        for step in range(setup.plan.total + 1):  # each from the start: what a save disturbs is judged elsewhere
            run = setup.begin(first)
            first.driver.follow(run, step)
            first.driver.save(run, _at(step))
        first.kill()
        files = first.files()
    names = [_at(step) for step in range(setup.plan.total + 1)]
    for name in names:
        expect.that(name in files, "save has returned, and there is no file at its path")
    return {name: files[name] for name in names}


def _truthful(setup, whole):
    """The run begins as it was told to, and its states follow each other by AdamW's rule, with some gradient and rate.

    Which gradient and which rate, the checks of `accumulate` and `advance` judge.
    """
    _trains(whole)
    states = [expect.mapping("state", state) for _, state in whole]
    for name, value in setup.values.items():
        expect.that(_equal(value, states[0].get(f"model.{name}")), "the run does not begin with its parameters")
    for step, (before, after) in enumerate(pairwise(states)):
        moves, changes = [], []
        for name, value in setup.values.items():
            p, m, v = _adamw_state(before, name, value)
            p_new, m_new, v_new = _adamw_state(after, name, value)
            g = (m_new - 0.9 * m) / 0.1
            expect.close(f"exp_avg_sq of {name}", v_new, 0.999 * v + 0.001 * g**2, floor_eps=LOOSE)
            t = step + 1
            move = m_new / (1 - 0.9**t) / ((v_new / (1 - 0.999**t)).sqrt() + 1e-8)
            moves.append((move + setup.plan.weight_decay * p).flatten())
            changes.append((p_new - p).flatten())
        move, change = torch.cat(moves), torch.cat(changes)
        left = change - move * (move @ change) / (move @ move)
        expect.that(float(left.norm()) <= 1e-6 * float(change.norm()), f"step {step} is no step of AdamW")


def _adamw_state(state, name, like):
    """(parameter, first moment, second moment); moments are zero before the first step."""
    p = expect.tensor(name, state.get(f"model.{name}"), shape=like.shape)
    moments = [state.get(f"optimizer.{key} of {name}", torch.zeros_like(like)) for key in ("exp_avg", "exp_avg_sq")]
    return p, *(expect.tensor(f"moment of {name}", moment, shape=like.shape) for moment in moments)


@check(
    points=3,
    kind="exactness",
    stub="save",
    hint="Saving reads: it draws no random numbers, moves nothing and changes no mode.",
)
def test_save_is_silent(submission, rng, torch_rng):
    """training goes on after a save as if there had been none"""
    setup = Setup(rng, torch_rng)
    whole = setup.uninterrupted(submission, 3)
    _trains(whole)
    run = setup.begin(submission)
    for step in range(4):
        if step:
            (stepped,) = _follow(submission, run, step - 1, step)
            _compare(whole[step], stepped, step - 1, "with a save before each step")
        submission.driver.save(run)
        _compare(([], whole[step][1]), ([], submission.driver.state(run)), None, "after a save")
    with submission.fresh(files={CHECKPOINT: _written(submission)}) as later:
        _reads_back(later, setup, whole[3][1])


@check(
    points=3,
    kind="robustness",
    stub="save",
    hint=(
        "Save tensors and plain Python values only, and load with weights_only=True: unpickling anything else "
        "runs code."
    ),
)
def test_loads_safely(submission, rng, torch_rng):
    """a checkpoint loads with weights_only=True, and restore unpickles nothing else"""
    setup = Setup(rng, torch_rng)
    run = setup.begin(submission)
    submission.driver.follow(run, 1)
    completed = int(rng.integers(2, 6))
    submission.driver.save(run, CHECKPOINT, completed)
    content = _written(submission)
    _load_safely(content)
    with submission.fresh(files={CHECKPOINT: content}) as later:
        _reads_back(later, setup, submission.driver.state(run), completed)
        unsafe = later.driver.unpickles(CHECKPOINT, setup.data, setup.plan)
    expect.that(unsafe is False, "restore unpickles classes by name, which runs whatever code a file asks for")


def _written(submission, path=CHECKPOINT):
    """The file that `save` has just written."""
    content = expect.mapping("files", submission.driver.files()).get(path)
    expect.that(
        isinstance(content, bytes) and len(content) > 100, "save has returned, and its path holds no checkpoint"
    )
    return content


def _reads_back(later, setup, state, completed=None, path=CHECKPOINT):
    """In a process that has not written it, the checkpoint gives at least the parameters (and the number of steps).

    Parameters to single precision: how exact they are, resuming judges.
    """
    run, found = setup.restore(later, path)
    if completed is not None:
        expect.equal("completed", found, completed)
    restored = expect.mapping("state", later.driver.state(run))
    for key, value in expect.mapping("state", state).items():
        if key.startswith("model."):
            got = expect.tensor(key, restored.get(key), shape=expect.tensor(key, value).shape)
            same = torch.allclose(got.double(), value.double(), rtol=1e-5, atol=1e-6)
            expect.that(same, "the restored parameters are not those that were saved")


def _load_safely(content):
    """Load a file of unknown origin in this process: small, not compressed, plain values."""
    expect.that(
        len(content) <= 16 << 20, f"a checkpoint of {len(content):,} bytes for a model of a few thousand parameters"
    )
    try:
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                stored = sum(entry.file_size for entry in archive.infolist())
            expect.that(stored <= 64 << 20, "the checkpoint is an archive that grows beyond measure")
        with torch.serialization.safe_globals([Plan]):
            found = torch.load(io.BytesIO(content), weights_only=True)
    except (
        OSError,
        RuntimeError,
        ValueError,
        KeyError,
        EOFError,
        pickle.UnpicklingError,
        zipfile.BadZipFile,
        MemoryError,
        RecursionError,
        AttributeError,
        TypeError,
        IndexError,
    ) as error:
        fail(f"torch.load(path, weights_only=True) raises {type(error).__name__}")
    expect.that(isinstance(found, dict | list | tuple), "the checkpoint holds nothing")


# -------------------------------------------------------------------------------------------------- crashes, full disks
@check(
    points=6,
    kind="robustness",
    stub="save",
    depends=[test_resume_is_exact],
    time_limit=30,
    hint=(
        "Write a temporary file completely, then rename it onto the path: at no instant may the path hold less "
        "than a checkpoint."
    ),
)
def test_killed_while_saving(submission, rng, torch_rng):
    """a process killed at any point of a save leaves the old checkpoint or the new one, and the next save works"""
    setup = Setup(rng, torch_rng)
    whole = setup.uninterrupted(submission, 2)
    old, events, size = _rehearsal(submission, setup)
    survivors, litter = {}, {}
    for at, limit in _deaths(rng, events, size):
        moment = _moment(events, at, limit)
        files = _die(submission, setup, old, at, limit)
        content = files.get(CHECKPOINT)
        expect.that(content is not None, f"killed {moment}: there is no checkpoint at the path any more")
        if content != old:
            survivors.setdefault(content, moment)
        if len(files) > len(litter):
            litter = files
    _check_survivors(submission, setup, whole, survivors)
    with submission.fresh(files=litter or {CHECKPOINT: old}) as later:  # beside a temporary file that was left
        run = setup.begin(later)
        later.driver.follow(run, 2)
        later.driver.save(run)
        state = later.driver.state(setup.restore(later)[0])
        _compare(([], whole[2][1]), ([], state), None, "saved again after a crash")


def _rehearsal(submission, setup):
    """The checkpoint after one step, what happens to files when that of two steps takes its place, and its size."""
    with submission.fresh() as first:
        run = setup.begin(first)
        first.driver.follow(run, 1)
        first.driver.save(run)
        old = _written(first)
        first.driver.follow(run, 2)
        events, _, _ = expect.sequence("a watched save", first.driver.watched_save(run), 3)
        new = _written(first)
    return old, [expect.text("event", event) for event in expect.sequence("events", events)], len(new)


def _deaths(rng, events, size):
    """(event, None): killed there. (event, n): from there on killed by a write beyond n bytes; -1 is the start."""
    structural = list(range(len(events)))[:10]
    writers = [j for j in structural if "open" in events[j]][:4]
    others = [j for j in structural if j not in writers]
    sizes = [int(rng.integers(1, 64)), *(int(n) for n in rng.integers(64, max(size, 65), 2)), max(size - 1, 1)]
    deaths = [(j, None) for j in structural] + [(-1, n) for n in sizes]
    deaths += [(j, int(rng.integers(1, max(size, 2)))) for j in writers]
    return deaths + [(int(j), int(rng.integers(1, max(size, 2)))) for j in rng.permutation(others)[:2]]


def _moment(events, at, limit):
    place = "at the start" if at < 0 else f"{events[at]} (event {at + 1} of {len(events)})"
    return place if limit is None else f"in the middle of a write, {place} or later"


def _die(submission, setup, old, at, limit):
    """The files after a save that was broken off; a save that came to its end leaves the new checkpoint."""
    with submission.fresh(files={CHECKPOINT: old}) as victim:
        run = setup.begin(victim)
        victim.driver.follow(run, 2)
        with suppress(SubmissionDied, OverLimit):
            victim.driver.dying_save(run, at, limit)
        return {name: data for name, data in victim.files().items() if name.startswith("runs/")}


def _check_survivors(submission, setup, whole, survivors):
    """Whatever took the old checkpoint's place is the complete new one."""
    names = {f"runs/survivor-{i}.ckpt": content for i, content in enumerate(survivors)}
    with submission.fresh(files=names) as later:
        for name, moment in zip(names, survivors.values()):
            try:
                run, _ = setup.restore(later, name)
            except SubmissionRaised:
                fail(f"killed {moment}: the path holds neither the old checkpoint nor a complete new one")
            _compare(([], whole[2][1]), ([], later.driver.state(run)), None, f"killed {moment} and restored")


@check(
    points=4,
    kind="robustness",
    stub="save",
    depends=[test_resume_is_exact],
    hint=(
        "When writing fails, delete the temporary file and let the error through; the old checkpoint has not been "
        "touched."
    ),
)
@pytest.mark.parametrize("case", ["file-too-large", "disk-full"])
def test_full_disk(submission, rng, torch_rng, case):
    """a save that fails raises, keeps the old checkpoint and leaves no temporary file"""
    setup = Setup(rng, torch_rng)
    quota = None if case == "file-too-large" else 3 << 20
    with submission.fresh(disk_bytes=quota) as victim:
        run = setup.begin(victim)
        victim.driver.follow(run, 1)
        victim.driver.save(run)
        size = len(_written(victim))
        victim.driver.follow(run, 2)
        # Not beyond half of the file: torch's own writer is silent about an error in the last block that it holds back.
        for part in (rng.uniform(0, 0.1), rng.uniform(0.1, 0.3), rng.uniform(0.3, 0.5)):
            if quota is None:
                attempt = victim.driver.failing_save(run, int(part * size))
            else:
                attempt = victim.driver.save_on_full_disk(run, int(part * size), quota + 4096)
            if quota is None or attempt is not None:  # None: this machine cannot limit the disk; the other case can
                _failed_cleanly(attempt)
        victim.driver.save(run)
        later, _ = setup.restore(victim)
        _compare(
            ([], victim.driver.state(run)), ([], victim.driver.state(later)), None, "saved once there was room again"
        )


def _failed_cleanly(attempt):
    raised, before, after = expect.sequence("attempt", attempt, 3)
    before, after = expect.mapping("files", before), expect.mapping("files", after)
    old = before.get(CHECKPOINT)
    expect.that(raised is not None, "save returns as if it had written the checkpoint, although the disk is full")
    expect.that(after.get(CHECKPOINT) == old, "the disk was full, and the old checkpoint is gone or damaged")
    extra = [name for name in after if name not in before and after[name] != old]
    expect.that(not extra, "the disk was full, and a temporary file is left behind")


@check(
    points=2,
    kind="robustness",
    stub="save",
    depends=[test_resume_is_exact],
    hint="Flush, then os.fsync the file's descriptor, then rename; the temporary file belongs beside the checkpoint.",
)
def test_synced_before_rename(submission, rng, torch_rng):
    """the temporary file lies beside the checkpoint and is on the disk before it is renamed"""
    setup = Setup(rng, torch_rng)
    run = setup.begin(submission)
    submission.driver.save(run)
    submission.driver.follow(run, 1)
    _, renamed, syncs = expect.sequence("a watched save", submission.driver.watched_save(run), 3)
    if renamed is None:  # no rename was seen
        expect.that(expect.integer("syncs", syncs) > 0, "the checkpoint is never synced to the disk")
        return
    seen = expect.mapping("rename", renamed, keys=("beside", "synced", "elsewhere"))
    expect.that(seen["beside"] is True, "the temporary file is in another folder, perhaps on another file system")
    synced = seen["synced"] is True or seen["elsewhere"] is True
    expect.that(synced, "the temporary file is renamed before all of it is synced to the disk")


# ------------------------------------------------------------------------------------------------------------- refusals
class Checkpoint:
    """A checkpoint that one process writes, and how `restore` in another one refuses it."""

    def __init__(self, submission, later, setup):
        self.writer, self.reader, self.setup = submission.driver, later, setup
        self.submission, self.own = submission, setup.data
        self.run = setup.begin(submission)

    def save(self, torch_version=None, **changes):
        """Write a checkpoint of these data, which becomes the file of the reader."""
        run, setup = self.run, self.setup
        if changes:
            data = replace(self.own, **changes)
            run = self.writer.begin(setup.config, setup.values, data, setup.plan, setup.seed)
        if torch_version is None:
            self.writer.save(run, CHECKPOINT)
        else:
            self.writer.save_as_torch(run, CHECKPOINT, torch_version)
        self.content = _written(self.submission)
        self.reader.driver.put(CHECKPOINT, self.content)
        return self

    def refused(self, what, data=None, plan=None):
        """The message with which it is refused."""
        refusal = self.reader.driver.refusal(CHECKPOINT, data or self.own, plan or self.setup.plan)
        kinds, message, changed = expect.sequence("refusal", refusal, 3)
        kinds = expect.sequence("classes", kinds)
        expect.that(bool(kinds), f"{what} is not refused")
        expect.that("ValueError" in kinds, f"{what} is refused with another error than ValueError")
        changed = ", ".join(expect.text("changed", name) for name in expect.sequence("changed", changed))
        expect.that(not changed, f"{what} is refused, but this has changed: {changed}")
        return expect.text("message", message)

    def accepted(self):
        """The unchanged checkpoint is still restored."""
        self.save()
        _reads_back(self.reader, self.setup, {f"model.{name}": t for name, t in self.setup.values.items()})


@check(
    points=5,
    kind="errors",
    stub="restore",
    hint="Compare before building anything; name what differs and show both values, the checkpoint's and the run's.",
)
@pytest.mark.parametrize("case", ["vocabulary", "data", "plan", "torch"])
def test_refuses_another(submission, rng, torch_rng, case):
    """another vocabulary, data, plan or torch is a ValueError that names it and both values"""
    setup = Setup(rng, torch_rng)
    other = {"vocabulary": _other_vocabulary, "data": _other_data, "plan": _other_plan, "torch": _other_torch}[case]
    with submission.fresh() as later:
        file = Checkpoint(submission, later, setup).save()
        other(file, rng)
        file.accepted()


def _other_vocabulary(file, rng):
    vocab = file.own.vocab
    others = [(vocab[0], *vocab[:0:-1]), _vocab(rng, 27), (*vocab, "word1001"), (*vocab[:-1], "word1002")]
    _names_both(file, "another vocabulary", "vocab", [{"vocab": vocab} for vocab in others])


def _other_data(file, rng):
    others = []
    for _ in range(2):
        x, y = file.own.x.clone(), file.own.y.clone()
        x[int(rng.integers(len(x))), 0] = y[0, 1] = int(rng.integers(1, 20))
        x[0, 0] = x[0, 0] % 19 + 1
        others.append({"x": x, "y": y, "fingerprint": fingerprint(x, y, file.own.vocab)})
    _names_both(file, "other data", "data|fingerprint", others)


def _names_both(file, what, word, others):
    """Each is refused; the message depends on what the checkpoint holds and on what is given."""
    given = [file.refused(what, replace(file.own, **changes)) for changes in others]
    for message in given:
        expect.that(re.search(word, message, re.IGNORECASE) is not None, f"the message does not say that it is {what}")
    held = file.save(**others[1]).refused(what, replace(file.own, **others[0]))
    expect.that(given[0] != given[1] and given[0] != held, f"the message for {what} does not show both values")


def _other_plan(file, rng):
    plan = file.setup.plan
    for field, value in asdict(plan).items():
        other = value + int(rng.integers(1, 4)) if isinstance(value, int) else value * rng.uniform(1.2, 1.9)
        message = file.refused(f"another plan ({field})", plan=replace(plan, **{field: other}))
        named = re.search(field.replace("_", "[_ ]"), message, re.IGNORECASE)
        expect.that(named is not None, f"the message does not name the field {field}")
        numbers = [float(n) for n in re.findall(r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", message)]
        for shown in (value, other):
            expect.that(
                any(abs(n - shown) <= 0.06 * shown for n in numbers),
                f"the message does not show both values of {field}",
            )
    for field in ("peak", "floor", "clip", "weight_decay"):
        value = asdict(plan)[field] * (1 + 1e-6)
        file.refused(f"a plan that differs a little ({field})", plan=replace(plan, **{field: value}))


def _other_torch(file, rng):
    release = re.match(r"(\d+\.\d+\.)(\d+)", torch.__version__)
    pretended = f"{release[1]}{int(release[2]) + 1 + int(rng.integers(5))}"
    for version in (pretended, "1.0.1"):
        message = file.save(version).refused("another torch version")
        expect.that("torch" in message.lower(), "the message does not name torch")
        for shown in (version, release[0]):
            expect.that(shown in message, "the message does not show both versions of torch")


@check(
    points=3,
    kind="errors",
    stub="restore",
    hint=(
        "Whatever torch.load raises for a damaged file is a ValueError to the caller; look at what came out "
        "before using it."
    ),
)
@pytest.mark.parametrize("case", ["cut", "foreign"])
def test_refuses_what_is_no_checkpoint(submission, rng, torch_rng, case):
    """a file cut at any length, or something else, is a ValueError and runs no code"""
    setup = Setup(rng, torch_rng)
    with submission.fresh() as later:
        file = Checkpoint(submission, later, setup).save()
        damaged = _cuts(rng, file.content) if case == "cut" else _foreign(rng, setup)
        for what, content in damaged.items():
            later.driver.put(CHECKPOINT, content)
            file.refused(what)
        expect.that(later.driver.exists("runs/payload") is False, "restore has run code that a file contained")
        file.accepted()


def _cuts(rng, content):
    size = len(content)
    lengths = [0, 1, 2, 4, size // 2, size - 22, size - 1, *(int(n) for n in rng.integers(5, size - 1, 6))]
    return {f"a file cut after {n} of {size} bytes": content[:n] for n in lengths}


class _Payload:
    def __reduce__(self):
        return os.mkdir, ("runs/payload",)


def _foreign(rng, setup):
    def saved(value, **options):
        file = io.BytesIO()
        torch.save(value, file, **options)
        return file.getvalue()

    archive, arrays = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("notes.txt", "nothing to see")
    np.savez(arrays, x=rng.random(5))
    return {
        "a text file": b"step 3, loss 2.5\n" * 20,
        "a file of random bytes": rng.bytes(3000),
        "an ordinary zip file": archive.getvalue(),
        "a numpy archive": arrays.getvalue(),
        "a pickle": pickle.dumps({"completed": 3}),
        "a JSON file": b'{"completed": 3, "plan": null}',
        "a saved tensor": saved(torch.arange(4)),
        "a saved list": saved([1, 2, 3]),
        "a saved number": saved(3),
        "a saved None": saved(None),
        "the parameters of another model": saved(setup.values),
        "an empty dict": saved({}),
        "a pickle that runs code": pickle.dumps(_Payload()),
        "a saved object that runs code": saved({"model": _Payload()}),
        "an old torch file that runs code": saved({"model": _Payload()}, _use_new_zipfile_serialization=False),
    }


# -------------------------------------------------------------------------------------------------------------- packing
@check(
    points=4,
    kind="exactness",
    stub="packing",
    hint="Number the runs of equal ids first; an id that comes back later is a new segment.",
)
@pytest.mark.parametrize("case", ["tiny", "one-segment", "singles", "ragged", "returning"])
def test_packing(submission, rng, case):
    """masks and positions are those of the definition"""
    for _ in range(4):
        lengths = {
            "tiny": rng.integers(1, 2, rng.integers(1, 3)),
            "one-segment": rng.integers(4, 12, 1),
            "singles": np.ones(rng.integers(3, 9), int),
            "ragged": rng.integers(1, 9, rng.integers(2, 6)),
            "returning": rng.integers(1, 5, rng.integers(4, 8)),
        }[case]
        names = rng.permutation(len(lengths)) + rng.integers(0, 3)
        if case == "returning":
            names = np.arange(len(lengths)) % 2 + rng.integers(0, 5)
        segments = torch.from_numpy(np.repeat(names, lengths))
        allowed, used, positions = expect.sequence("result", submission.packing(segments), 3)
        wanted = _packing(lengths)
        T = len(segments) - 1
        allowed = expect.tensor("allowed", allowed, shape=(T, T), dtype=torch.bool)
        used = expect.tensor("targets_used", used, shape=(T,), dtype=torch.bool)
        positions = expect.array("positions", positions, shape=(T,))
        expect.that(positions.dtype.kind in "iu", "positions are not integers")
        expect.equal("allowed", allowed.tolist(), wanted[0])
        expect.equal("targets_used", used.tolist(), wanted[1])
        expect.equal("positions", positions.tolist(), wanted[2])


def _packing(lengths):
    """The definition, token by token: each token is (segment, position in it)."""
    tokens = [(segment, position) for segment, length in enumerate(lengths) for position in range(length)]
    inputs = tokens[:-1]
    allowed = [[a[0] == b[0] and b[1] <= a[1] for b in inputs] for a in inputs]
    return allowed, [a[0] == b[0] for a, b in pairwise(tokens)], [position for _, position in inputs]
