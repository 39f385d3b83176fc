"""Public checks of hw1: closed forms and invariants. The hidden checks establish the same contract on other data."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.checks import check, expect
from course_lib import Memory, State
from course_lib.memory import contents

LOADS = {"softmax_naive": 2, "softmax_safe": 3, "softmax_online": 2}  # of x, per element
ALL = pytest.mark.parametrize("stub", LOADS)


def logarithms(rng, n):
    """Logits log k for k = 1 ... n in random order: their softmax is k / (1 + ... + n)."""
    k = rng.permutation(np.arange(1, n + 1))
    return np.log(k), k / k.sum()


def run(submission, name, row, dtype="float64"):
    x, y = Memory(row, dtype), Memory(np.full(len(row), 7.0), dtype)
    getattr(submission, name)(x, y)
    return x, y


@check(points=6, kind="values", stub="softmax_online", hint="Work out softmax([0, log 2]) by hand: it is [1/3, 2/3].")
@ALL
def test_public_values(submission, rng, stub):
    """softmax of log 1 ... log n is proportional to 1 ... n"""
    shifts = [0.0] if stub == "softmax_naive" else [0.0, 1000.0, -1000.0]
    for shift in shifts:
        for n in (1, 2, 6):
            row, wanted = logarithms(rng, n)
            _, y = run(submission, stub, row + shift)
            expect.close("y", contents(y), wanted, logits=abs(shift) + 2, dtype="float64")
    _, y = run(submission, stub, [-np.inf, 0.0, -np.inf, np.log(3)])
    expect.close("y", contents(y), [0, 1 / 4, 0, 3 / 4], logits=2, dtype="float64")


@check(points=6, kind="counts", stub="softmax_online", hint="Count the calls of x.load and y.store for one element.")
@ALL
def test_public_counts(submission, rng, stub):
    """x is loaded and y is stored as often as the contract says"""
    n = 20
    k = np.arange(n, 0, -1) + rng.uniform(0, 0.5)
    x, y = run(submission, stub, np.log(k), "float32")
    expect.close("y", contents(y), k / k.sum(), logits=4, dtype="float32")  # counts need a right result
    expect.counts("x", of=x, loads=LOADS[stub] * n, stores=0)
    expect.counts("y", of=y, loads=0, stores=n)


@check(points=1, kind="exactness", stub="softmax_naive", hint="exp(100) does not fit into float32: let it overflow.")
def test_public_overflow(submission):
    """softmax_naive overflows in float32 for an input of 100, and not for one of 10"""
    _, y = run(submission, "softmax_naive", [0.0, 10.0], "float32")
    small, large = contents(y)
    expect.that(bool(0 < small < large < np.inf), "for x = [0, 10] nothing overflows")
    _, y = run(submission, "softmax_naive", [0.0, 100.0], "float32")
    expect.that(not np.isfinite(contents(y)[1]), "exp(100) overflows float32, so y[1] must be NaN or inf")


def meaning(name, got, r, d):
    """What a state stands for: (o / l, m + log l). Any valid shift m gives the same."""
    m, l, o = expect.sequence(name, got, 3)
    m = expect.tensor(f"{name}.m", m, shape=(r,)).double().numpy()
    l = expect.tensor(f"{name}.l", l, shape=(r,)).double().numpy()
    o = expect.tensor(f"{name}.o", o, shape=(r, d)).double().numpy()
    with np.errstate(all="ignore"):
        return np.where((l == 0)[:, None], o, o / l[:, None]), m + np.log(l)


def example(rng):
    """Two rows of log k, one of them shifted by 1000, and a row of -inf: (S, V, out, lse)."""
    row, weights = logarithms(rng, 5)
    S = torch.from_numpy(np.stack([row, np.full(5, -np.inf), row + 1000]))
    V = torch.from_numpy(rng.normal(0.5, 1, (5, 2)))
    out = weights @ V.numpy()
    return S, V, np.stack([out, np.zeros(2), out]), np.array([np.log(15), -np.inf, np.log(15) + 1000])


def judge(name, got, out, lse):
    mean, total = meaning(name, got, *out.shape)
    expect.close(f"o / l of {name}", mean, out, logits=1000, dtype="float64")
    expect.close(f"m + log l of {name}", total, lse, dtype="float64")


@check(
    points=2,
    kind="values",
    stub="block_state",
    hint="Row by row: the maximum, the sum of exp(S - m), and that times V.",
)
def test_public_block(submission, rng):
    """block_state stands for weights proportional to 1 ... n"""
    S, V, out, lse = example(rng)
    judge("state", submission.block_state(S, V), out, lse)


def by_hand(S, V):
    """The state of S and V, from its definition."""
    m = S.amax(dim=1)
    P = torch.exp(S - torch.where(torch.isinf(m), 0.0, m)[:, None])
    return State(m, P.sum(dim=1), P @ V)


@check(
    points=3, kind="values", stub="merge_states", hint="Measure both l and both o against one common maximum, then add."
)
def test_public_merge(submission, rng):
    """two halves merge to the whole, and the state that has seen nothing changes nothing"""
    S, V, out, lse = example(rng)
    left, right = by_hand(S[:, :2], V[:2]), by_hand(S[:, 2:], V[2:])
    judge("merge(left, right)", submission.merge_states(left, right), out, lse)
    judge("merge(right, left)", submission.merge_states(right, left), out, lse)
    nothing = by_hand(torch.full((3, 1), -torch.inf, dtype=torch.float64), V[:1])
    judge("merge(whole, nothing)", submission.merge_states(by_hand(S, V), nothing), out, lse)


@check(points=2, kind="values", stub="finalize", hint="o / l, and m + log l; look at the row that has seen nothing.")
def test_public_finalize(submission, rng):
    """finalize divides by l and returns the log-sum-exp"""
    S, V, out, lse = example(rng)
    got, got_lse = expect.sequence("finalize(state)", submission.finalize(by_hand(S, V)), 2)
    expect.close("out", expect.tensor("out", got, shape=(3, 2)), out, logits=1000, dtype="float64")
    expect.close("lse", expect.tensor("lse", got_lse, shape=(3,)), lse, dtype="float64")
