"""Hidden checks of hw2: values against float64, traffic, FLOPs and on-chip memory against the contracts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
import torch

from autograder.checks import CheckFailed, check, expect, fail, raises
from course_lib import HBM, HBMArray
from course_lib.hbm import array_counts, contents
from course_lib.hbm_contract import allowance, must_hold

STANDARD, V1, V2 = "standard_attention", "flash_attention_v1", "flash_attention_v2"
RESULTS = {STANDARD: ("O", "P"), V1: ("O", "l", "m"), V2: ("O", "L")}
DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64"])
FLASH = pytest.mark.parametrize("stub", [V1, V2], ids=["v1", "v2"])


# ------------------------------------------------------------------------------------------------------------ the data
class Shape(NamedTuple):
    """One call: N rows of width d in blocks of (Br, Bc)."""

    N: int
    d: int
    Br: int
    Bc: int
    causal: bool = False


class Problem(NamedTuple):
    """Inputs in the submission's precision and what they must give, in float64."""

    Q: torch.Tensor
    K: torch.Tensor
    V: torch.Tensor
    O: torch.Tensor
    P: torch.Tensor
    lse: torch.Tensor
    baseline: torch.Tensor  # O, P and lse of the textbook formula in the submission's precision
    top: float  # what the logits would be at most if no product cancelled another


def inputs(rng, N, d, kind):
    """Q, K, V (N, d): scores spread around a positive mean, and V away from 0, so that no result is near 0."""
    Q, K = rng.normal(0.4, 0.9, (N, d)), rng.normal(0.4, 0.9, (N, d))
    V = rng.normal(0.5, 1.0, (N, d))
    size = math.sqrt(300 / math.sqrt(d))  # of an entry, when all scores are 300
    if kind == "constant":
        K[:] = K[0]
    elif kind == "zero":
        K[:] = 0
    elif kind == "rising":
        K += np.linspace(0, 3, N)[:, None]
    elif kind == "hot":
        Q, K = 100 * rng.normal(0, 1, (N, d)), 100 * rng.normal(0, 1, (N, d))
    elif kind == "cold":
        Q, K = Q / 4 + size, K / 4 - size
    elif kind == "frozen":  # below every "large negative number" that is put in the place of a masked score
        Q, K = Q / 4 + 14 * size, K / 4 - 14 * size
    elif kind == "mixed":  # the rows of one tile lie far apart, above and below 0
        Q, K = Q / 4 + size * np.resize([1.0, -1.0, 0.01, -0.5, 0.5], N)[:, None], K / 4 + size
    return Q, K, V


def attention(Q, K, V, causal):
    """O, P and the log-sum-exp by the textbook, in the precision of Q."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    if causal:
        S = S.masked_fill(torch.from_numpy(~np.tri(len(Q), dtype=bool)), -math.inf)
    m = S.amax(dim=1, keepdim=True)
    P = torch.exp(S - m)
    l = P.sum(dim=1, keepdim=True)
    P = P / l
    return P @ V, P, (m + torch.log(l))[:, 0]


def make_problem(rng, shape, dtype="float64", kind="spread"):
    Q, K, V = (torch.from_numpy(a).to(getattr(torch, dtype)) for a in inputs(rng, shape.N, shape.d, kind))
    O, P, lse = attention(Q.double(), K.double(), V.double(), shape.causal)
    top = float((Q.double().abs() @ K.double().abs().T).max()) / math.sqrt(shape.d)
    return Problem(Q, K, V, O, P, lse, attention(Q, K, V, shape.causal), top)


# --------------------------------------------------------------------------------------------------- calls and verdicts
class Run(NamedTuple):
    """A kernel's call: the device, the inputs' handles by name, the results' handles by name."""

    hbm: HBM
    inputs: dict[str, HBMArray]
    results: dict[str, HBMArray]


def run(submission, stub, problem, shape, *, measured=False):
    """Call a kernel of the submission on a device of its own; its results are handles of the promised kind.

    `measured` turns the on-chip meter on, which costs more than the kernel itself.
    """
    hbm = HBM(measured=measured)
    arrays = {name: hbm.array(tensor, name) for name, tensor in zip("QKV", problem)}
    options = {"causal": True} if shape.causal else {}
    if stub != STANDARD:
        options["block"] = (shape.Br, shape.Bc)
    names = RESULTS[stub]
    got = expect.sequence(
        f"the result of {stub}", getattr(submission, stub)(hbm, *arrays.values(), **options), len(names)
    )
    sizes = {"O": (shape.N, shape.d), "P": (shape.N, shape.N)}
    for name, handle in zip(names, got):
        expect_handle(name, handle, hbm, sizes.get(name, (shape.N,)), problem.Q.dtype)
    return Run(hbm, arrays, dict(zip(names, got)))


def expect_handle(name, got, hbm, shape, dtype):
    expect.that(
        isinstance(got, HBMArray) and got._device is hbm,
        f"{name} must be returned as an HBMArray of the given hbm, got {expect.describe(got)}",
    )
    expect.that(got.shape == shape, f"{name} must have shape {shape}, got {got.shape}")
    expect.that(got.dtype == dtype, f"{name} must have the inputs' dtype {dtype}, got {got.dtype}")


def expect_output(done, problem):
    """O within the error budget: computing in the submission's precision, and what running sums cost."""
    expect.close(
        "O", contents(done.results["O"]), problem.O, baseline=problem.baseline[0], logits=problem.top, floor_eps=32
    )


def expect_right(done, problem):
    """What a call costs is judged once it computes the right thing; values have checks of their own."""
    try:
        expect_output(done, problem)
    except CheckFailed:
        fail("O is not right yet on a call of this kind; what the call costs is judged once it is")


def expect_lse(name, got, problem):
    """An absolute budget, since m and log l can be larger than their sum."""
    floor = 32 * (1 + problem.top) / float(problem.lse.abs().max())
    expect.close(name, got, problem.lse, baseline=problem.baseline[2], floor_eps=floor, dtype=problem.Q.dtype)


SHAPES = {
    "tiny": [
        *(Shape(1, d, 1, 1, causal) for d, causal in ((1, False), (8, True))),
        *(Shape(2, 4, Br, Bc, causal) for Br, Bc in ((1, 1), (2, 1), (1, 2), (3, 3)) for causal in (False, True)),
    ],
    "square": [Shape(48, 16, 16, 16)],
    "ragged": [Shape(37, 8, 16, 16), Shape(33, 8, 16, 16), Shape(29, 6, 5, 7)],
    "rectangular": [Shape(36, 8, 12, 4), Shape(36, 8, 4, 12), Shape(7, 4, 1, 3)],
    "one-block": [Shape(9, 6, 9, 9), Shape(9, 6, 64, 64), Shape(9, 6, 4, 64), Shape(9, 6, 64, 4)],
    "odd-width": [Shape(40, 59, 16, 8)],
    "constant": [Shape(26, 8, 8, 8)],
    "hot": [Shape(24, 16, 8, 8), Shape(15, 16, 4, 8)],
    "causal": [
        *(Shape(16, 6, *block, causal=True) for block in ((4, 4), (2, 4), (4, 2), (16, 4), (4, 16), (64, 64))),
        *(Shape(N, 8, *block, causal=True) for N, block in ((18, (4, 8)), (18, (8, 4)), (33, (16, 16)), (23, (3, 7)))),
    ],
}
FROZEN = [Shape(13, 6, 4, 4, causal=True), Shape(13, 6, 5, 3, causal=True)]
KINDS = {"constant": ("constant", "zero"), "hot": ("hot", "cold", "mixed"), "square": ("spread", "rising")}
TILED = pytest.mark.parametrize("case", SHAPES)
SUMMED = pytest.mark.parametrize("case", ["tiny", "ragged", "constant", "hot", "causal"])
UNTILED = pytest.mark.parametrize("case", [case for case in SHAPES if case not in ("rectangular", "one-block")])


def runs(submission, rng, stub, case, dtype):
    """Every call of a case class, with its data."""
    calls = [(kind, shape) for kind in KINDS.get(case, ("spread",)) for shape in SHAPES[case]]
    if case == "causal":
        calls += [("frozen", shape) for shape in FROZEN]
    for kind, shape in calls:
        problem = make_problem(rng, shape, dtype, kind)
        yield run(submission, stub, problem, shape), problem


# --------------------------------------------------------------------------------------------------------------- values
@check(
    points=6,
    kind="values",
    stub=STANDARD,
    hint="S = Q K^T / sqrt(d), softmax over the keys of each row, O = P V; the mask acts on S, before the softmax.",
)
@UNTILED
@DTYPES
def test_standard_values(submission, rng, case, dtype):
    """standard_attention returns softmax(Q K^T / sqrt(d)) V"""
    for done, problem in runs(submission, rng, STANDARD, case, dtype):
        expect_output(done, problem)


@check(
    points=3,
    kind="values",
    stub=STANDARD,
    hint="P holds the probabilities themselves: rows sum to 1, keys that a query does not see have exactly 0.",
)
@SUMMED
@DTYPES
def test_standard_probabilities(submission, rng, case, dtype):
    """standard_attention leaves the probabilities in P"""
    for done, problem in runs(submission, rng, STANDARD, case, dtype):
        P = contents(done.results["P"])
        expect.close("P", P, problem.P, baseline=problem.baseline[1], logits=problem.top, floor_eps=32)


@check(
    points=8,
    kind="values",
    stub=V1,
    hint="O in HBM is already divided by l: multiply it by l exp(m - m_new), add the new tile, divide by the new l.",
)
@TILED
@DTYPES
def test_v1_values(submission, rng, case, dtype):
    """flash_attention_v1 returns exact attention for every block size"""
    for done, problem in runs(submission, rng, V1, case, dtype):
        expect_output(done, problem)


@check(
    points=4,
    kind="values",
    stub=V1,
    hint="m and l belong together: whatever shift m is, l must be the sum of exp(s - m) over all keys of the row.",
)
@SUMMED
@DTYPES
def test_v1_statistics(submission, rng, case, dtype):
    """flash_attention_v1 leaves l and m such that m + log l is the log-sum-exp of the scores"""
    for done, problem in runs(submission, rng, V1, case, dtype):
        l, m = (contents(done.results[name]).double() for name in ("l", "m"))
        expect_lse("m + log l", m + torch.log(l), problem)


@check(
    points=9,
    kind="values",
    stub=V2,
    hint="When the maximum moves, l and o both shrink by exp(m_old - m_new); divide by l once, after the last tile.",
)
@TILED
@DTYPES
def test_v2_values(submission, rng, case, dtype):
    """flash_attention_v2 returns exact attention for every block size"""
    for done, problem in runs(submission, rng, V2, case, dtype):
        expect_output(done, problem)


@check(
    points=4,
    kind="values",
    stub=V2,
    hint="L = m + log l with the m and l after the last tile, kept in the inputs' precision.",
)
@SUMMED
@DTYPES
def test_v2_logsumexp(submission, rng, case, dtype):
    """flash_attention_v2 returns the log-sum-exp of the scores in L"""
    for done, problem in runs(submission, rng, V2, case, dtype):
        expect_lse("L", contents(done.results["L"]), problem)


# -------------------------------------------------------------------------------------------------------------- traffic
def tiles(shape):
    """(rows, keys) of every tile that is not wholly in the future."""
    for i in range(0, shape.N, shape.Br):
        rows = min(shape.Br, shape.N - i)
        for j in range(0, shape.N, shape.Bc):
            if not (shape.causal and j > i + rows - 1):
                yield rows, min(shape.Bc, shape.N - j)


def contract_of(stub, shape):
    """(reads, writes) of each array without a mask, and of the arrays that are not returned."""
    N, d = shape.N, shape.d
    Tr, Tc = -(-N // shape.Br), -(-N // shape.Bc)
    if stub == STANDARD:
        once = dict.fromkeys("QKV", (N * d, 0))
        return {**once, "O": (0, N * d), "P": (N * N, N * N)}, (N * N, N * N)
    if stub == V1:
        statistic = (Tc * N, N + Tc * N)
        kept = {"O": (Tc * N * d, N * d + Tc * N * d), "l": statistic, "m": statistic}
        return {"Q": (Tc * N * d, 0), "K": (N * d, 0), "V": (N * d, 0), **kept}, (0, 0)
    passes = (Tr * N * d, 0)
    return {"Q": (N * d, 0), "K": passes, "V": passes, "O": (0, N * d), "L": (0, N)}, (0, 0)


def solution_contract(solution, stub, problem, shape):
    """What the solution moves for the same shape."""
    done = run(solution, stub, problem, shape)
    return {name: tuple(array_counts(handle)) for name, handle in {**done.inputs, **done.results}.items()}, (0, 0)


def on_chip_bound(shape):
    return 3 * (2 * shape.Br * shape.d + 2 * shape.Bc * shape.d + shape.Br * shape.Bc) + 8 * (shape.Br + shape.Bc)


def expect_traffic(done, contract, spare):
    """At most the contract, array by array; names the array, both numbers and the first event beyond."""
    handles = {**done.inputs, **done.results}
    expect.ledger(done.hbm, allowance(done.hbm, {handles[name]: pair for name, pair in contract.items()}, spare))


def expect_tiled(done, shape, contract):
    """Reading less than the contract is welcome, as long as it is not bought with on-chip memory."""
    saved = sum(
        reads - array_counts({**done.inputs, **done.results}[name]).reads for name, (reads, _) in contract.items()
    )
    if saved > 0:
        bound = on_chip_bound(shape)
        bought = f"{saved} elements fewer were read than the contract allows, at the price of on-chip memory"
        expect.at_most(bought, done.hbm.sram_peak, bound, "elements")
        # What is held needs a partner to be worked on, hence at most half of the memory.
        expect.at_most(bought, held(done, shape), bound // 2, "elements")


def held(done, shape):
    """Elements that must have been on chip, wherever the kernel kept them."""
    if shape.causal:
        return 0
    given, O = done.inputs, done.results["O"]
    return max(must_hold(done.hbm, given[keys], O, given.values(), given["Q"]) for keys in "KV")


def judge_traffic(submission, rng, stub, shape, contract=None, dtype="float64"):
    problem = make_problem(rng, shape, dtype)
    done = run(submission, stub, problem, shape, measured=True)
    expect_right(done, problem)
    per_array, spare = contract(problem) if contract else contract_of(stub, shape)
    expect_traffic(done, per_array, spare)
    if stub != STANDARD:
        expect_tiled(done, shape, per_array)


TRAFFIC = pytest.mark.parametrize(
    ("case", "shape"),
    [
        ("square", Shape(64, 16, 4, 4)),
        ("rectangular", Shape(64, 16, 4, 12)),
        ("ragged", Shape(77, 16, 10, 8)),
        ("odd-width", Shape(88, 59, 8, 16)),
    ],
    ids=["square", "rectangular", "ragged", "odd-width"],
)
CAUSAL_TRAFFIC = pytest.mark.parametrize(
    ("case", "shape"),
    [
        ("causal", Shape(64, 16, 8, 8, causal=True)),
        ("causal", Shape(64, 16, 4, 12, causal=True)),
        ("causal", Shape(65, 16, 12, 4, causal=True)),
    ],
    ids=["square", "wide", "tall"],
)


@check(
    points=4,
    kind="counts",
    stub=STANDARD,
    hint="Read Q, K, V, S and P once each, write S, P and O once each; a matrix just written must be read back.",
)
@pytest.mark.parametrize("shape", [Shape(24, 8, 24, 24), Shape(33, 59, 33, 33)], ids=["square", "odd-width"])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_standard_counts(submission, rng, shape, causal):
    """standard_attention moves no more than 4 N^2 + 4 N d elements, array by array"""
    judge_traffic(submission, rng, STANDARD, shape._replace(causal=causal))


@check(
    points=7,
    kind="counts",
    stub=V1,
    hint="K and V belong to the outer loop. Per tile: read Q, O, l, m of that block of rows, write O, l, m.",
)
@TRAFFIC
def test_v1_counts(submission, rng, case, shape):
    """flash_attention_v1 reads K and V once and Q, O, l, m once per K block"""
    judge_traffic(submission, rng, V1, shape)


@check(
    points=7,
    kind="counts",
    stub=V2,
    hint="Q belongs to the outer loop; o, m and l of a block of rows stay in tensors until its last tile is done.",
)
@TRAFFIC
def test_v2_counts(submission, rng, case, shape):
    """flash_attention_v2 reads Q once, K and V once per Q block, and never reads O"""
    judge_traffic(submission, rng, V2, shape)


@check(
    points=3,
    kind="counts",
    stub=V1,
    hint="A tile is in the future when its last query comes before its first key: skip it before anything is read.",
)
@CAUSAL_TRAFFIC
def test_v1_causal_counts(submission, solution, rng, case, shape):
    """flash_attention_v1 neither reads nor writes for tiles wholly in the future"""
    judge_traffic(submission, rng, V1, shape, lambda problem: solution_contract(solution, V1, problem, shape))


@check(
    points=4,
    kind="counts",
    stub=V2,
    hint="Stop the inner loop at the first key block that begins after the last query of the block of rows.",
)
@CAUSAL_TRAFFIC
def test_v2_causal_counts(submission, solution, rng, case, shape):
    """flash_attention_v2 neither reads nor writes for tiles wholly in the future"""
    judge_traffic(submission, rng, V2, shape, lambda problem: solution_contract(solution, V2, problem, shape))


# ---------------------------------------------------------------------------------------------------- FLOPs and on chip
def expect_seen(hbm, pairs, d):
    """What the meter saw must suffice for one of the two products in some spelling, or its numbers mean nothing."""
    expect.that(
        hbm.work >= 2 * pairs * d,
        "most of the arithmetic of this kernel happened where the meter does not look: work on the tiles with torch, "
        "in the thread that was called",
    )


@check(
    points=6,
    kind="flops",
    stub=V2,
    hint="Two products per tile, Q K^T and P V, 2 Br Bc d operations each: does any tile compute one of them twice?",
)
@pytest.mark.parametrize("stub", [STANDARD, V1, V2], ids=["standard", "v1", "v2"])
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_flops(submission, rng, stub, causal):
    """the matrix products cost no more than 4 Br Bc d per tile"""
    shape = Shape(52, 16, 8, 16, causal)
    problem = make_problem(rng, shape)
    done = run(submission, stub, problem, shape, measured=True)
    expect_right(done, problem)
    whole = stub == STANDARD
    pairs = shape.N**2 if whole else sum(rows * keys for rows, keys in tiles(shape))
    seen = shape.N * (shape.N + 1) // 2 if causal else shape.N**2
    expect_seen(done.hbm, seen, shape.d)
    # One more column of a product is free: row sums by way of a column of ones.
    expect.at_most("FLOPs of matrix and vector products", done.hbm.flops, 4 * pairs * shape.d + 2 * pairs, "FLOPs")


@check(
    points=6,
    kind="memory",
    stub=V2,
    hint="Hold tiles of the current block of rows and keys only: nothing of length N, no list of tiles, no full mask.",
)
@FLASH
@pytest.mark.parametrize(
    ("case", "shape"),
    [
        ("square", Shape(48, 16, 16, 16)),
        ("rectangular", Shape(48, 8, 8, 16)),
        ("causal", Shape(48, 16, 16, 16, causal=True)),
    ],
    ids=["square", "rectangular", "causal"],
)
def test_on_chip(submission, rng, stub, case, shape):
    """the on-chip memory depends on the block sizes and not on N"""
    peaks, proved = [], []
    for N in (shape.N, 2 * shape.N):
        longer = shape._replace(N=N)
        problem = make_problem(rng, longer)
        done = run(submission, stub, problem, longer, measured=True)
        expect_right(done, problem)
        expect_seen(done.hbm, N * (N + 1) // 2 if shape.causal else N**2, shape.d)
        peaks.append(done.hbm.sram_peak)
        proved.append(held(done, longer))
    for what, (short, long) in (("on-chip memory", peaks), ("what must have been kept outside HBM", proved)):
        expect.that(
            2 * (long - short) < shape.N,
            f"{what} grows with N: {short} elements at N = {shape.N}, {long} at N = {2 * shape.N}",
        )
    expect.at_most("on-chip memory", peaks[1], on_chip_bound(shape) - 1, "elements")


@check(
    points=2,
    kind="counts",
    stub=V2,
    hint="O and the statistics are all that these kernels keep in HBM: the scores never leave the chip.",
)
@FLASH
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_allocation(submission, rng, stub, causal):
    """nothing of the size of the N x N matrix is allocated in HBM"""
    shape = Shape(64, 8, 16, 16, causal)
    problem = make_problem(rng, shape)
    done = run(submission, stub, problem, shape)
    expect_right(done, problem)
    expect.at_most("memory allocated in HBM", done.hbm.allocated, shape.N**2 // 2, "elements")


# ------------------------------------------------------------------------------------------------- formulas and errors
def expect_some_formula(submission):
    """Refusing is worth something once the function computes: one kind right, where no block is cut short."""
    shape = Shape(64, 16, 8, 16)
    for kind, stub in (("v2", V2), ("v1", V1), ("standard", STANDARD)):
        per_array, spare = contract_of(stub, shape)
        if expect.integer("io_formula", submission.io_formula(kind, *shape[:4])) == sum(
            map(sum, (*per_array.values(), spare))
        ):
            return
    fail("io_formula is not right for any of the three kinds yet; this check waits for the first")


BLOCKS = {  # every class needs the formula: none is met by a constant
    "multiple": [(4, 1), (256, 64), (512, 64), (49152, 128), (4 * 64 * 64, 64), (98304, 64)],
    "above": [(5, 1), (257, 64), (513, 64), (4 * 64 * 64 + 1, 64), (4097, 32)],
    "below": [(1, 1), (1, 64), (255, 64), (511, 64), (10**5, 59), (4 * 64 * 64 - 1, 64)],
    "large": [(4 * 59 * 10**17 + 1, 59), (4 * 59 * 10**17, 59)],
}


@check(
    points=2,
    kind="exactness",
    stub="block_sizes",
    hint="Bc rounds up, Br is the smaller of Bc and d; integer division keeps large M exact.",
)
@pytest.mark.parametrize("case", BLOCKS)
def test_block_sizes(submission, case):
    """block_sizes follows line 1 of the paper at its corner cases"""
    for M, d in BLOCKS[case]:
        Bc = -(-M // (4 * d))
        expect.equal("block_sizes", submission.block_sizes(M, d), (min(Bc, d), Bc))


@check(
    points=3,
    kind="exactness",
    stub="io_formula",
    hint="Count reads and writes of each array in your loops; a last, smaller block counts its own rows only.",
)
@pytest.mark.parametrize("kind", ["standard", "v1", "v2"])
def test_formula(submission, solution, rng, kind):
    """io_formula equals the traffic that is measured, and stays exact for large N"""
    stub = {"standard": STANDARD, "v1": V1, "v2": V2}[kind]
    for _ in range(5):
        shape = Shape(*(int(rng.integers(low, high)) for low, high in ((1, 30), (1, 12), (3, 40), (3, 40))))
        hbm = run(solution, stub, make_problem(rng, shape), shape).hbm
        got = submission.io_formula(kind, *shape[:4])
        expect.equal(f"io_formula({kind!r}, ...)", got, hbm.accesses)
    large = Shape(int(rng.integers(10**9, 2 * 10**9)) * 30 * 10**9 + 1, 127, 12, 20)
    per_array, spare = contract_of(stub, large)
    wanted = sum(map(sum, per_array.values())) + sum(spare)
    expect.equal(f"io_formula({kind!r}, ...) for a large N", submission.io_formula(kind, *large[:4]), wanted)


@check(points=1, kind="errors", stub="io_formula", hint="Raise ValueError for every kind but the three.")
@pytest.mark.parametrize("kind", ["v3", "V1", "v12", "stand", ""])
def test_unknown_kind(submission, kind):
    """io_formula refuses an unknown kind"""
    expect_some_formula(submission)
    with raises("ValueError"):
        submission.io_formula(kind, 64, 16, 8, 8)


@check(points=1, kind="errors", stub=V2, hint="Check both sizes before anything else, with `raise ValueError(...)`.")
@FLASH
@pytest.mark.parametrize("block", [(0, 4), (4, 0), (-1, 4), (4, -3)], ids=["0x4", "4x0", "-1x4", "4x-3"])
def test_block_errors(submission, rng, stub, block):
    """block sizes below 1 raise ValueError, those that are allowed average V"""
    shape = Shape(8, 4, 8, 8)
    problem = make_problem(rng, shape, kind="constant")
    O = contents(run(submission, stub, problem, shape).results["O"])
    # No more than that is asked for here: whatever is wrong with the values has been said elsewhere.
    along = torch.nn.functional.cosine_similarity(O, problem.O, dim=1)
    expect.that(
        bool((along > 0.999).all()),
        "O has nothing to do with the mean of V where all keys are equal; refusing block sizes is judged once it has",
    )
    with raises("ValueError"):
        run(submission, stub, problem, shape._replace(Br=block[0], Bc=block[1]))
