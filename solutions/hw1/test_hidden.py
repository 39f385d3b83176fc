"""Hidden checks of hw1: values, traffic and the state algebra, against float64 references."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from autograder.checks import CheckFailed, check, expect, fail
from course_lib import Memory, State
from course_lib.memory import TRACE_LIMIT, contents, joint_trace

DTYPES = ["float16", "float32", "float64"]
WIDE = ["float32", "float64"]  # the state algebra is torch, where half precision is not asked for
LOADS = {"softmax_naive": 2, "softmax_safe": 3, "softmax_online": 2}  # of x, per element
UNWRITTEN = 7.0  # no probability, and unlike NaN never a right answer
INF = np.inf


# ------------------------------------------------------------------------------------------------- softmax over memory
def run(submission, name, row, dtype):
    """One call of a softmax on a row of its own; returns both memories."""
    x, y = Memory(row, dtype), Memory(np.full(len(row), UNWRITTEN), dtype)
    getattr(submission, name)(x, y)
    return x, y


def judge(x, y, *, one_hot=False):
    """y is the softmax of x, within what computing in x's dtype costs.

    `one_hot` rows have one survivor by a wide margin: whichever way the maximum is kept, nothing is rounded in it.
    """
    values = contents(x)
    reference = np.exp(values - values.max())
    reference /= reference.sum()
    narrow = np.exp((values - values.max()).astype(x.dtype))
    denominator = np.add.accumulate(narrow)[-1]  # one after the other, as a loop adds them
    top = float(np.abs(values[np.isfinite(values)]).max() + np.log(len(values)))
    expect.close(
        "y", contents(y), reference, baseline=narrow / denominator, logits=0.0 if one_hot else top, dtype=x.dtype
    )


def must_answer(submission, name, row, dtype):
    """0 and NaN mean something only from a function that answers an ordinary row, be it inaccurately."""
    y = contents(run(submission, name, row, dtype)[1])
    answered = bool(np.all(np.isfinite(y)) and np.all(y > 0) and np.array_equal(np.argsort(y), np.argsort(row)))
    expect.that(answered, "an ordinary row must give finite results that grow with x")


def moderate(rng, n, scale=2.0):
    return rng.normal(rng.uniform(-1, 1), scale, n)


def descending(rng, n):
    """A row whose maximum comes first: whoever forgets to rescale loses values for it, not counts as well."""
    return -np.sort(-moderate(rng, n))


def counted_rows(rng, n):
    """Rows for counts: descending; rising, where every element moves the maximum; with equal elements."""
    return [descending(rng, n), np.sort(moderate(rng, n)), np.repeat(descending(rng, -(-n // 2)), 2)[:n]]


def counted_runs(submission, rng, name, n):
    """Calls whose counts mean something, since their result is right: the first must be, others are judged if it is."""
    for number, row in enumerate(counted_rows(rng, n)):
        x, y = run(submission, name, row, "float32")
        try:
            judge(x, y)
        except CheckFailed:
            if number == 0:
                fail("y is not right yet, not even for a row that falls; accesses are judged once it is")
            continue
        yield x, y


def ordinary_rows(rng, case):
    """Rows on which all three softmaxes must be right."""
    if case == "tiny":
        low = rng.uniform(-2, 0)
        return [[rng.uniform(-3, 3)], [low, low + rng.uniform(0.8, 2)], [low + rng.uniform(0.8, 2), low]]
    if case == "constant":
        level = rng.uniform(1, 3)
        return [np.full(9, level), np.full(4, -level), [level, level, level + 1, level]]  # the last one is not uniform
    if case == "ragged":
        return [moderate(rng, 29), np.sort(moderate(rng, 11))]
    # masked: one at the front, whole blocks at the front and at the back, holes, a single survivor
    front, back, holes, single = moderate(rng, 2), moderate(rng, 9), moderate(rng, 11), np.full(4, -INF)
    front[0] = back[5:] = holes[rng.permutation(11)[:5]] = -INF
    single[2] = rng.uniform(1, 2)
    return [front, np.concatenate([np.full(9, -INF), moderate(rng, 5)]), back, holes, single]


def hot_rows(rng, dtype):
    """(row, one_hot) around +-1e4; half precision resolves that only for one winner, so it is also judged around 40."""
    size = 40.0 if dtype == "float16" else 1e4
    return [
        (size + moderate(rng, 9), False),
        (-size + moderate(rng, 9), False),
        (np.sort(moderate(rng, 7, size / 20)), False),
        (rng.permutation([-size, size, -size, 0.0, size / 2]), True),
        (rng.permutation([-1e4, -1.1e4, -1.3e4, -2e4]), True),
        ([8e3, 9e3, 9e3, 1e4], True),
        ([-170.0, -250.0, -300.0], True),
    ]


def cold_masked_rows():
    """Masked entries below kept ones that are very negative themselves: a finite stand-in for -inf would win."""
    return [([-2e4, -INF, -2.2e4, -INF], True), ([-INF, 1e4, -INF], True), ([-INF, -INF, -3e4], True)]


def wide_row(rng):
    """Longer than a block of 128, the first blocks of any smaller size wholly masked."""
    return np.concatenate([np.full(66, -INF), moderate(rng, 63)])


def stable_values(submission, rng, name, dtype, case):
    rows = hot_rows(rng, dtype) if case == "hot" else [(row, False) for row in ordinary_rows(rng, case)]
    if case == "masked":
        rows += cold_masked_rows() + ([(wide_row(rng), False)] if dtype == "float32" else [])
    for row, one_hot in rows:
        judge(*run(submission, name, row, dtype), one_hot=one_hot)


STABLE = [(dtype, case) for dtype in DTYPES for case in ("tiny", "constant", "ragged", "hot", "masked")]


@check(
    points=7, kind="values", stub="softmax_naive", hint="Two passes: add up exp(x_j), then divide each exp(x_i) by it."
)
@pytest.mark.parametrize("case", ["tiny", "constant", "ragged", "masked"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_naive_values(submission, rng, dtype, case):
    """softmax_naive matches the definition where nothing overflows"""
    rows = ordinary_rows(rng, case)
    if case == "ragged":  # the largest exponential that the dtype holds is not too large
        rows.append([{"float16": 10.5, "float32": 88.0, "float64": 709.0}[dtype], 1.0, 4.0])
    for row in rows:
        judge(*run(submission, "softmax_naive", row, dtype))


@check(
    points=4,
    kind="exactness",
    stub="softmax_naive",
    hint="Compute in the dtype that x.load returns, without a shift: exp of a large x is inf there, inf / inf is NaN.",
)
@pytest.mark.parametrize(
    ("dtype", "large"), [("float16", 12.0), ("float32", 89.5), ("float32", 300.0), ("float64", 711.0)]
)
def test_naive_overflows(submission, rng, dtype, large):
    """softmax_naive overflows in the memory's own dtype"""
    row = rng.permutation(np.linspace(-1, 1, 5))
    must_answer(submission, "softmax_naive", row, dtype)
    hot = int(rng.integers(5))
    row[hot] = large
    y = contents(run(submission, "softmax_naive", row, dtype)[1])
    expect.that(not np.isfinite(y[hot]), "the element whose exponential overflows must come out as NaN or inf")
    others = np.delete(y, hot)
    expect.that(
        bool(np.all((others == 0) | ~np.isfinite(others))), "the other elements are divided by inf: 0, NaN or inf"
    )


@check(
    points=9, kind="values", stub="softmax_safe", hint="Subtract the maximum of the row, whatever its sign, before exp."
)
@pytest.mark.parametrize(("dtype", "case"), STABLE)
def test_safe_values(submission, rng, dtype, case):
    """softmax_safe matches the definition and never overflows"""
    stable_values(submission, rng, "softmax_safe", dtype, case)


@check(
    points=10,
    kind="values",
    stub="softmax_online",
    hint="When the maximum moves, multiply the denominator by exp(m_old - m_new); mind a maximum that is still -inf.",
)
@pytest.mark.parametrize(("dtype", "case"), STABLE)
def test_online_values(submission, rng, dtype, case):
    """softmax_online matches the definition and never overflows"""
    stable_values(submission, rng, "softmax_online", dtype, case)


def masked_row(submission, rng, name, dtype):
    must_answer(submission, name, rng.permutation([-1.0, 0.0, 1.0]) + rng.uniform(-0.3, 0.3, 3), dtype)
    for n in (1, 2, 5, 65) if dtype == "float32" else (1, 5):
        y = contents(run(submission, name, np.full(n, -INF), dtype)[1])
        expect.that(bool(np.all((y == 0) | np.isnan(y))), "a row that is -inf throughout gives 0 or NaN everywhere")


MASKED_HINT = "With every entry -inf the denominator is 0: decide what to store, and store it in every element."


@check(points=2, kind="robustness", stub="softmax_safe", case="masked", hint=MASKED_HINT)
@pytest.mark.parametrize("dtype", DTYPES)
def test_safe_masked_row(submission, rng, dtype):
    """softmax_safe gives 0 or NaN where the whole row is -inf"""
    masked_row(submission, rng, "softmax_safe", dtype)


@check(points=2, kind="robustness", stub="softmax_online", case="masked", hint=MASKED_HINT)
@pytest.mark.parametrize("dtype", DTYPES)
def test_online_masked_row(submission, rng, dtype):
    """softmax_online gives 0 or NaN where the whole row is -inf"""
    masked_row(submission, rng, "softmax_online", dtype)


def traffic(submission, rng, name, n):
    for x, y in counted_runs(submission, rng, name, n):
        expect.counts("x", of=x, loads=LOADS[name] * n, stores=0)
        expect.counts("y", of=y, loads=0, stores=n)


LENGTHS = pytest.mark.parametrize("n", [31, 128])


@check(
    points=5, kind="counts", stub="softmax_naive", hint="Two passes over x, one store per element of y, nothing else."
)
@LENGTHS
def test_naive_counts(submission, rng, n):
    """softmax_naive loads x twice and stores y once per element"""
    traffic(submission, rng, "softmax_naive", n)


@check(points=5, kind="counts", stub="softmax_safe", hint="One pass each for maximum, denominator and result.")
@LENGTHS
def test_safe_counts(submission, rng, n):
    """softmax_safe loads x three times and stores y once per element"""
    traffic(submission, rng, "softmax_safe", n)


@check(
    points=8,
    kind="counts",
    stub="softmax_online",
    hint="Maximum and denominator come from one pass: load each element once in it, and once more for the result.",
)
@LENGTHS
def test_online_counts(submission, rng, n):
    """softmax_online loads x twice and stores y once per element"""
    traffic(submission, rng, "softmax_online", n)


@check(
    points=4,
    kind="counts",
    stub="softmax_online",
    hint="No element may be loaded a second time, and nothing stored, before every element has been loaded once.",
)
@pytest.mark.parametrize(("case", "n"), [("tiny", 2), ("ragged", 33)])
def test_online_one_pass(submission, rng, case, n):
    """softmax_online visits every element once before it stores the first result"""
    for x, y in counted_runs(submission, rng, "softmax_online", n):
        events = joint_trace(x=x, y=y)
        loaded = [i for name, op, i in events if (name, op) == ("x", "load")][:n]
        expect.that(
            sorted(loaded) == list(range(n)), f"the first {n} loads of x must visit each of its {n} elements once"
        )
        first = next((number for number, (name, op, _) in enumerate(events) if (name, op) == ("y", "store")), None)
        expect.that(first is not None, f"y is not stored to within {TRACE_LIMIT:,} accesses")
        early = sum(name == "x" and op == "load" for name, op, _ in events[:first])
        expect.that(early >= n, f"y is stored to after {early} loads of x, before all {n} elements were loaded")


# ------------------------------------------------------------------------------------------------------- state algebra
def tensor(values, dtype):
    return torch.from_numpy(np.array(values)).to(getattr(torch, dtype))


def scores(rng, case, r, c):
    """(r, c) scores of a case class."""
    S = rng.normal(0, 2, (r, c))
    if case == "hot":
        S += np.resize([1e4, -1e4, 300.0, -300.0], r)[:, None]
    elif case == "constant":
        S[:] = rng.uniform(-3, 3)
    elif case == "masked":
        S[rng.random((r, c)) < 0.4] = -INF
        S[0] = -INF  # a row without a score
        S[1, :] = -INF
        S[1, c - 1] = -1.5  # a single survivor, after a run of -inf
        S[r - 1] = rng.normal(0, 2, c)
    return S


def values(rng, c, d):
    return rng.normal(0.5, 1, (c, d))


def softmax_average(S, V):
    """(out, lse) in float64; a row without a score gives 0 and -inf."""
    S, V = np.asarray(S, np.float64), np.asarray(V, np.float64)
    m = S.max(axis=1, keepdims=True)
    P = np.exp(S - np.where(np.isfinite(m), m, 0.0))
    l = P.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        return P @ V / np.where(l == 0, 1.0, l), (m + np.log(l))[:, 0]


def made_elsewhere(rng, S, V, reach=4.0):
    """A state of S and V with a shift that need not be the maximum: exact, behind it, or a bound above it.

    `reach` is how far it may lie away; in the last row it is a bound that lies as far above.
    """
    dtype = S.dtype
    m = S.amax(dim=1)
    shifts = rng.choice([0.0, -1.0, 1.0]) * rng.uniform(0, reach, len(m))
    shifts[-1] = reach
    m = m + tensor(shifts, str(dtype).removeprefix("torch."))
    shift = torch.where(torch.isinf(m), 0.0, m).double()
    P = torch.exp(S.double() - shift[:, None])
    return State(m, P.sum(dim=1).to(dtype), (P @ V.double()).to(dtype))


def nothing_seen(r, d, dtype):
    return State(tensor(np.full(r, -INF), dtype), tensor(np.zeros(r), dtype), tensor(np.zeros((r, d)), dtype))


def as_state(name, got, r, d):
    """What a submission returned as a State of floating-point tensors."""
    m, l, o = expect.sequence(name, got, 3)
    parts = State(
        expect.tensor(f"{name}.m", m, shape=(r,)),
        expect.tensor(f"{name}.l", l, shape=(r,)),
        expect.tensor(f"{name}.o", o, shape=(r, d)),
    )
    for field, part in zip(State._fields, parts):
        expect.that(part.dtype.is_floating_point, f"{name}.{field} must hold floating-point numbers")
    return parts


def judge_result(out, lse, S, V, dtype, names=("out", "lse")):
    """out and lse are the softmax average of V under S and its log-sum-exp."""
    wanted, wanted_lse = softmax_average(S, V)
    top = float(np.abs(S.numpy()[np.isfinite(S.numpy())], dtype=np.float64).max(initial=0.0) + np.log(S.shape[1]))
    expect.close(names[0], out, wanted, logits=top, floor_eps=16, dtype=dtype)
    seen = np.abs(wanted_lse[np.isfinite(wanted_lse)])
    # An absolute budget: the parts m and log l can be larger than their sum.
    floor = 16 * (1 + top) / max(float(seen.max(initial=0.0)), 1e-300)
    expect.close(names[1], lse, wanted_lse, floor_eps=floor, dtype=dtype)


def judge_state(name, got, S, V, dtype):
    """A state is compared through what it means, o / l and m + log l, since every valid shift is right."""
    m, l, o = (part.double().numpy() for part in as_state(name, got, len(S), V.shape[1]))
    with np.errstate(all="ignore"):
        out = np.where((l == 0)[:, None], o, o / l[:, None])
        lse = m + np.log(l)
    judge_result(out, lse, S, V, dtype, names=(f"o / l of {name}", f"m + log l of {name}"))


SHAPES = {  # rows, columns of each block, width of the values
    "tiny": (1, (1, 2), 1),
    "rectangular": (7, (3, 5), 4),
    "square": (4, (4, 4), 4),
    "odd-width": (3, (6, 1), 59),
    "constant": (2, (5, 3), 3),
    "hot": (6, (9, 4), 5),
    "masked": (6, (5, 8), 3),
}
CASES = pytest.mark.parametrize("case", SHAPES)
WIDTHS = pytest.mark.parametrize("dtype", WIDE)


def two_blocks(rng, case, dtype):
    """Scores and values of two blocks of columns: (S_a, V_a), (S_b, V_b)."""
    r, widths, d = SHAPES[case]
    blocks = [(tensor(scores(rng, case, r, c), dtype), tensor(values(rng, c, d), dtype)) for c in widths]
    if case == "masked":
        blocks[0][0][2] = -INF  # a row seen by b only, one seen by a only; row 0 by none
        blocks[1][0][3] = -INF
        blocks[1][0][2, 0] = blocks[0][0][3, 0] = 0.5
    if case == "hot":
        blocks[1][0][4:] -= 2e4  # rows whose other half lies far below, and whose larger half comes second
        blocks[0][0][5] -= 4e4
    return blocks


def joined(blocks):
    return torch.cat([S for S, _ in blocks], dim=1), torch.cat([V for _, V in blocks], dim=0)


@check(
    points=6,
    kind="values",
    stub="block_state",
    hint="Shift each row by a finite number close to its maximum; where the whole row is -inf, shift by 0.",
)
@CASES
@WIDTHS
def test_block_values(submission, rng, dtype, case):
    """block_state stands for the softmax of its block"""
    for S, V in two_blocks(rng, case, dtype):
        judge_state("state", submission.block_state(S, V), S, V, dtype)


@check(
    points=5,
    kind="values",
    stub="merge_states",
    hint="Bring both states to a common shift: l and o of each are multiplied by exp(m - m_common), row by row.",
)
@CASES
@WIDTHS
def test_merge_values(submission, rng, dtype, case):
    """merge_states stands for both blocks together, in either order and whoever made the states"""
    blocks = two_blocks(rng, case, dtype)
    for _ in range(2):
        a, b = (made_elsewhere(rng, S, V) for S, V in blocks)
        judge_state("merge(a, b)", submission.merge_states(a, b), *joined(blocks), dtype)
        judge_state("merge(b, a)", submission.merge_states(b, a), *joined(blocks), dtype)


@check(
    points=2,
    kind="robustness",
    stub="merge_states",
    hint="-inf - (-inf) is NaN: a row that neither state has seen needs a finite shift, and keeps l = 0 and o = 0.",
)
@pytest.mark.parametrize("case", ["rectangular", "hot", "masked"])
@WIDTHS
def test_merge_identity(submission, rng, dtype, case):
    """merging with the state that has seen nothing changes nothing"""
    S, V = two_blocks(rng, case, dtype)[0]
    state, empty = made_elsewhere(rng, S, V), nothing_seen(len(S), V.shape[1], dtype)
    judge_state("merge(state, empty)", submission.merge_states(state, empty), S, V, dtype)
    judge_state("merge(empty, state)", submission.merge_states(empty, state), S, V, dtype)
    nothing = torch.full_like(S, -INF)
    judge_state("merge(empty, empty)", submission.merge_states(empty, empty), nothing, V, dtype)


@check(
    points=4,
    kind="values",
    stub="merge_states",
    hint="The result of a merge must be a state like any other: o not divided by l, l measured against the m returned.",
)
@pytest.mark.parametrize("case", ["ragged", "masked", "hot"])
@WIDTHS
def test_merge_grouping(submission, rng, dtype, case):
    """merge_states is associative: blocks of unequal width give the whole row in any grouping and order"""
    r, d, widths = 5, 3, [1, 4, 2, 7, 3, 5]
    blocks = [(tensor(scores(rng, case, r, c), dtype), tensor(values(rng, c, d), dtype)) for c in widths]
    for _ in range(2):
        states = [made_elsewhere(rng, S, V) for S, V in blocks]
        while len(states) > 1:
            a, b = (states.pop(int(rng.integers(len(states)))) for _ in range(2))
            states.append(as_state("merge(a, b)", submission.merge_states(a, b), r, d))
        judge_state("all blocks merged", states[0], *joined(blocks), dtype)


@check(
    points=3,
    kind="values",
    stub="finalize",
    hint="out = o / l row by row, lse = m + log l; where l is 0 the row has seen nothing: 0 and -inf.",
)
@CASES
@WIDTHS
def test_finalize_values(submission, rng, dtype, case):
    """finalize gives the softmax average and the log-sum-exp of states made elsewhere"""
    blocks = two_blocks(rng, case, dtype)
    for S, V in [*blocks, joined(blocks)]:
        for reach in (4.0, 25.0):
            judge_final(submission.finalize(made_elsewhere(rng, S, V, reach)), S, V, dtype)


def judge_final(got, S, V, dtype):
    out, lse = expect.sequence("finalize(state)", got, 2)
    out = expect.tensor("out", out, shape=(len(S), V.shape[1]))
    judge_result(out, expect.tensor("lse", lse, shape=(len(S),)), S, V, dtype)


@check(
    points=1,
    kind="values",
    stub="merge_states",
    depends=[test_block_values, test_merge_values, test_finalize_values],
    hint="Each function is right by itself: do your three functions agree on what m, l and o mean?",
)
@WIDTHS
def test_whole_row(submission, rng, dtype):
    """block_state, merge_states and finalize together give the softmax of the whole row"""
    r, d, widths = 6, 5, [4, 1, 9, 2]
    blocks = [(tensor(scores(rng, "masked", r, c), dtype), tensor(values(rng, c, d), dtype)) for c in widths]
    blocks[0][0][2] = -INF  # not seen by the first block, and far below zero in all the others
    for S, _ in blocks[1:]:
        S[2] = torch.nan_to_num(S[2], neginf=0.0) - 1e4
    state = as_state("state", submission.block_state(*blocks[0]), r, d)
    for S, V in blocks[1:]:
        other = as_state("state", submission.block_state(S, V), r, d)
        state = as_state("merge(a, b)", submission.merge_states(state, other), r, d)
    judge_final(submission.finalize(state), *joined(blocks), dtype)


UNMODIFIED = (
    "Operations in place (-=, *=, masked_fill_, x[mask] = ...) change what the caller still has: make new ones."
)


def unmodified(submission, name, *arguments):
    """Only the process of the submission can see what happened to its arguments, so the driver looks there."""
    answer = submission.driver.with_arguments_after(name, *arguments)
    _, after = expect.sequence("the result and the arguments", answer, 2)
    expect.equal("arguments afterwards", after, list(arguments))


@check(points=1, kind="exactness", stub="block_state", depends=[test_block_values], case="masked", hint=UNMODIFIED)
@WIDTHS
def test_block_unmodified(submission, rng, dtype):
    """block_state leaves scores and values as they were"""
    for S, V in two_blocks(rng, "masked", dtype):
        unmodified(submission, "block_state", S, V)


@check(points=1, kind="exactness", stub="merge_states", depends=[test_merge_values], case="masked", hint=UNMODIFIED)
@WIDTHS
def test_merge_unmodified(submission, rng, dtype):
    """merge_states leaves both states as they were"""
    a, b = (made_elsewhere(rng, S, V) for S, V in two_blocks(rng, "masked", dtype))
    unmodified(submission, "merge_states", a, b)
    unmodified(submission, "merge_states", b, a)


@check(points=1, kind="exactness", stub="finalize", depends=[test_finalize_values], case="masked", hint=UNMODIFIED)
@WIDTHS
def test_finalize_unmodified(submission, rng, dtype):
    """finalize leaves the state as it was"""
    for S, V in two_blocks(rng, "masked", dtype):
        unmodified(submission, "finalize", made_elsewhere(rng, S, V))
