"""Hidden checks of hw3: gradients against float64 autograd, traffic against contracts, activations against meters."""

import math
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import pytest
import torch

from autograder.checks import SubmissionRaised, check, expect, raises
from course_lib import HBM, HBMArray
from course_lib.hbm import contents
from course_lib.hbm_contract import allowance, must_hold

GRADIENTS = ("dQ", "dK", "dV")
FORWARD_FACTS, BACKWARD_FACTS, EXECUTED_FACTS = ("result", "graph", "changed"), ("result", "changed"), ("tanh", "alive")


# ------------------------------------------------------------------------------------------------- attention: the data
class Shape(NamedTuple):
    """One call: N rows of width d, in blocks of (Br, Bc)."""

    N: int
    d: int
    block: tuple[int, int]
    causal: bool = False


class Problem(NamedTuple):
    """Inputs in the submission's precision, as a forward pass leaves them."""

    Q: torch.Tensor
    K: torch.Tensor
    V: torch.Tensor
    P: torch.Tensor
    O: torch.Tensor
    dO: torch.Tensor
    L: torch.Tensor
    visible: torch.Tensor  # (N, N): query i sees key j
    scale: float


def make_problem(rng, shape, dtype="float64", kind="ordinary"):
    """Data of that kind; P, O and L come from a float64 forward and are rounded."""
    N, d, (Br, _), causal = shape
    Q, K, V, dO = (rng.normal(size=(N, d)) for _ in range(4))
    Q, V, dO = 1.5 * Q, V + 0.5, dO + 0.25
    if kind == "hot":  # logits from 1e4 up, later keys higher: a future score exceeds L by hundreds
        Q[:, 0], K[:, 0] = 100.0, math.sqrt(d) * (100 + 0.02 * np.arange(N))
    if kind == "cold":  # logits from -1e4 down, L as well: below what a clamp or a large negative number stands for
        Q[:, 0], K[:, 0] = 100.0, -math.sqrt(d) * (150 + 0.02 * np.arange(N))
    if kind == "constant":
        Q[:], K[:] = Q[0], K[0]
    visible = np.tri(N, dtype=bool) if causal else np.ones((N, N), dtype=bool)
    if kind == "masked":  # a whole block of rows, and single ones
        visible[(np.arange(N) < Br) | (np.arange(N) % 5 == 2)] = False
    visible = torch.from_numpy(visible)
    Q, K, V, dO = (torch.from_numpy(a).to(getattr(torch, dtype)) for a in (Q, K, V, dO))
    scale = 1 / math.sqrt(d)
    S = (Q.double() @ K.double().T * scale).masked_fill(~visible, -math.inf)
    L = torch.logsumexp(S, dim=1)
    P = torch.exp(S - L.masked_fill(torch.isneginf(L), math.inf)[:, None])
    O = P @ V.double()
    return Problem(Q, K, V, *(t.to(Q.dtype) for t in (P, O)), dO, L.to(Q.dtype), visible, scale)


def autograd_gradients(problem):
    """dQ, dK, dV in float64."""
    Q, K, V = (t.detach().double().clone().requires_grad_() for t in problem[:3])
    S = (Q @ K.T * problem.scale).masked_fill(~problem.visible, -1e300)
    P = torch.softmax(S, dim=1) * problem.visible.any(dim=1, keepdim=True)
    return torch.autograd.grad(P @ V, (Q, K, V), problem.dO.double())


def formula_gradients(problem):
    """The five formulas with the given L, in the submission's precision: what the arithmetic itself costs."""
    Q, K, V, _, O, dO, L, visible, scale = problem
    S = (Q @ K.T * scale).masked_fill(~visible, -math.inf)
    P = torch.exp(S - L.masked_fill(torch.isneginf(L), math.inf)[:, None])
    dS = P * (dO @ V.T - (dO * O).sum(dim=1, keepdim=True)) * scale
    return dS @ K, dS.T @ Q, P.T @ dO


def factor_sizes(problem):
    """What dQ, dK, dV would be if no term cancelled another."""
    Q, K, V, P, O, dO = (t.double().abs() for t in problem[:6])
    dS = P * (dO @ V.T + (dO * O).sum(dim=1, keepdim=True)) * problem.scale
    return dS @ K, dS.T @ Q, P.T @ dO


# ------------------------------------------------------------------------------------------ attention: calls, verdicts
STANDARD_INPUTS = ("Q", "K", "V", "P", "dO")
FLASH_INPUTS = ("Q", "K", "V", "O", "dO", "L")


class Run(NamedTuple):
    """A backward pass on its device: handles of the inputs by name, and those returned."""

    hbm: HBM
    inputs: dict[str, HBMArray]
    returned: list[HBMArray]


def run_standard(submission, problem):
    hbm = HBM(measured=False)
    inputs = {name: hbm.array(getattr(problem, name), name) for name in STANDARD_INPUTS}
    result = submission.standard_attention_backward(hbm, *inputs.values())
    return judged(problem, Run(hbm, inputs, handles(hbm, problem, result)))


def run_flash(submission, problem, shape, *, measured=False):
    """A call of the flash backward; `measured` turns the on-chip meter on, which costs more than the kernel itself."""
    hbm = HBM(measured=measured)
    inputs = {name: hbm.array(getattr(problem, name), name) for name in FLASH_INPUTS}
    result = submission.flash_attention_backward(hbm, *inputs.values(), block=shape.block, causal=shape.causal)
    return judged(problem, Run(hbm, inputs, handles(hbm, problem, result)))


def judged(problem, run):
    """The run, once its gradients are right: nothing is counted of a kernel that computes something else."""
    expect_gradients(problem, run.returned)
    return run


def handles(hbm, problem, result):
    """The three returned handles, once they are handles of the right shape and dtype."""
    returned = expect.sequence("the returned (dQ, dK, dV)", result, 3)
    for name, handle in zip(GRADIENTS, returned):
        expect.that(
            isinstance(handle, HBMArray) and handle._device is hbm,
            f"{name} must be returned as the handle of an array in hbm, got {expect.describe(handle)}",
        )
        expect.that(
            handle.shape == tuple(problem.Q.shape) and handle.dtype == problem.Q.dtype,
            f"{name} must have the shape and dtype of Q, got {handle.shape} and {handle.dtype}",
        )
    return returned


def expect_gradients(problem, returned):
    """Each of dQ, dK, dV within its own budget; the first column, where hot factors live, apart from the others."""
    finite = problem.L[torch.isfinite(problem.L)].double().abs()
    largest = float(finite.max()) if len(finite) else 0.0
    floor = 8 * torch.finfo(problem.Q.dtype).eps * (1 + largest)
    columns = zip(GRADIENTS, returned, autograd_gradients(problem), formula_gradients(problem), factor_sizes(problem))
    for name, handle, reference, baseline, size in columns:
        got = contents(handle)
        for part in (slice(0, 1), slice(1, None)):
            error = float((baseline.double() - reference)[:, part].abs().max())
            budget = 8 * error + floor * float(size[:, part].max())
            expect.close(name, got[:, part], reference[:, part], baseline=reference[:, part] + budget, k=1, floor_eps=0)


# ----------------------------------------------------------------------------------------------- attention: contracts
class Work(NamedTuple):
    """What a causal kernel cannot avoid: rows of Q visited, (row, key) pairs computed."""

    rows: int
    pairs: int


def unskipped(shape):
    N, _, (Br, Bc), causal = shape
    rows = pairs = 0
    for j in range(0, N, Bc):
        for i in range(0, N, Br):
            height, width = min(Br, N - i), min(Bc, N - j)
            if not causal or i + height > j:  # its last row sees key j
                rows, pairs = rows + height, pairs + height * width
    return Work(rows, pairs)


def flash_contract(shape):
    """Elements (read, written) per array; "scratch" is D and whatever else the kernel allocates."""
    once, rows = shape.N * shape.d, unskipped(shape).rows
    visited = rows * shape.d
    return {
        "Q": (visited, 0), "K": (once, 0), "V": (once, 0), "O": (once, 0), "dO": (once + visited, 0), "L": (rows, 0),
        "dQ": (visited, once + visited), "dK": (0, once), "dV": (0, once), "scratch": (rows, shape.N),
    }  # fmt: skip


def standard_contract(N, d):
    once, square = N * d, N * N
    return {
        "Q": (once, 0), "K": (once, 0), "V": (once, 0), "P": (2 * square, 0), "dO": (2 * once, 0),
        "dQ": (0, once), "dK": (0, once), "dV": (0, once), "scratch": (3 * square, 2 * square),
    }  # fmt: skip


def expect_traffic(run, contract):
    """At most the contract, per array; the arrays that are not returned share the allowance of "scratch"."""
    own = {handle: contract[name] for name, handle in run.inputs.items()}
    for name, handle in zip(GRADIENTS, run.returned):
        own[handle] = contract[name]
    expect.ledger(run.hbm, allowance(run.hbm, own, contract["scratch"]))


# -------------------------------------------------------------------------------------------------- standard attention
@check(
    points=6, kind="values", stub="standard_attention_backward",
    hint="Derive dS row by row: every P_ij of a row depends on every score of it, hence the row sum. Mind 1/sqrt(d).",
)  # fmt: skip
@pytest.mark.parametrize("case", ["tiny", "square", "odd-width", "causal", "hot", "masked"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_standard_gradients(submission, rng, dtype, case):
    """dQ, dK and dV agree with autograd"""
    sizes = {"tiny": [(1, 3), (2, 4)], "odd-width": [(9, 59)], "causal": [(13, 6)]}.get(case, [(16, 8), (11, 4)])
    for N, d in sizes:
        problem = make_problem(rng, Shape(N, d, (4, 4), case == "causal"), dtype, case)
        run_standard(submission, problem)


@check(
    points=6, kind="counts", stub="standard_attention_backward", depends=[test_standard_gradients],
    hint="Five N x N passes in (P twice, dP, dS twice), two out (dP, dS); other matrices once per product they are in.",
)  # fmt: skip
@pytest.mark.parametrize("size", [(24, 8), (10, 16), (17, 5)], ids=["long", "wide", "odd"])
def test_standard_traffic(submission, rng, size):
    """reads at most 5 N^2 + 5 N d and writes at most 2 N^2 + 3 N d elements"""
    problem = make_problem(rng, Shape(*size, (4, 4)))
    expect_traffic(run_standard(submission, problem), standard_contract(*size))


# ----------------------------------------------------------------------------------------------------- flash attention
ORDINARY = {
    "tiny": [Shape(1, 3, (1, 1)), Shape(2, 4, (1, 1), True), Shape(2, 5, (4, 1)), Shape(1, 4, (8, 8), True)],
    "square": [Shape(24, 16, (8, 8)), Shape(5, 4, (1, 1))],
    "ragged": [Shape(21, 8, (8, 8)), Shape(17, 4, (8, 16)), Shape(19, 4, (16, 6))],
    "rectangular": [Shape(32, 8, (4, 16)), Shape(32, 8, (16, 4)), Shape(21, 5, (3, 7))],
    "one-block": [Shape(20, 8, (20, 20)), Shape(13, 4, (64, 32)), Shape(13, 4, (64, 4)), Shape(13, 4, (4, 64))],
    "odd-width": [Shape(24, 59, (8, 16))],
    "causal": [
        Shape(24, 8, (8, 8), True), Shape(32, 8, (4, 16), True), Shape(32, 8, (16, 4), True),
        Shape(22, 6, (7, 5), True), Shape(30, 6, (8, 12), True),
        Shape(17, 4, (8, 16), True), Shape(9, 4, (32, 16), True),
    ],
}  # fmt: skip
EXTREME = {
    "hot": [Shape(32, 16, (16, 8)), Shape(80, 16, (16, 64), True), Shape(72, 8, (48, 16), True)],
    "constant": [Shape(20, 8, (8, 4)), Shape(20, 8, (4, 8), True)],
    "masked": [Shape(24, 8, (4, 8)), Shape(23, 6, (4, 4), True), Shape(16, 6, (16, 16))],
}


COLD = [Shape(24, 8, (8, 16)), Shape(24, 8, (8, 16), True)]


def judge_flash(submission, rng, shapes, dtype, kind):
    for shape in shapes:
        run_flash(submission, make_problem(rng, shape, dtype, kind), shape)


@check(
    points=9, kind="values", stub="flash_attention_backward",
    hint="Compare one tile of P, dP and dS with the full matrices; then ask what happens at the last, smaller block.",
)  # fmt: skip
@pytest.mark.parametrize("case", list(ORDINARY))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_flash_gradients(submission, rng, dtype, case):
    """dQ, dK and dV agree with autograd, each within its own budget"""
    judge_flash(submission, rng, ORDINARY[case], dtype, "ordinary")


@check(
    points=3, kind="robustness", stub="flash_attention_backward",
    hint="exp(S - L) overflows where a masked score is far above L, and where L is -inf: mask before the exponential.",
)  # fmt: skip
@pytest.mark.parametrize("case", list(EXTREME))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_flash_extremes(submission, rng, dtype, case):
    """hot, constant and fully masked rows neither overflow nor leak"""
    judge_flash(submission, rng, EXTREME[case], dtype, case)
    if case == "hot":
        judge_flash(submission, rng, COLD, dtype, "cold")


TRAFFIC = {
    "square": [Shape(32, 4, (8, 8)), Shape(32, 4, (8, 8), True)],
    "ragged": [Shape(29, 6, (8, 5)), Shape(29, 6, (8, 5), True)],
    "rectangular": [Shape(32, 4, block, causal) for block in ((4, 16), (16, 4)) for causal in (False, True)],
    "one-block": [Shape(12, 4, (16, 5)), Shape(12, 4, (5, 16), True)],
}  # fmt: skip


@check(
    points=10, kind="counts", stub="flash_attention_backward", depends=[test_flash_gradients],
    hint="K, V blocks outside, Q blocks inside: dK, dV stay on chip, dQ makes the round trip. Is a future block read?",
)  # fmt: skip
@pytest.mark.parametrize("case", list(TRAFFIC))
def test_flash_traffic(submission, rng, case):
    """every array is read and written as often as the contract allows, future blocks not at all"""
    for shape in TRAFFIC[case]:
        expect_traffic(run_flash(submission, make_problem(rng, shape), shape), flash_contract(shape))


def expect_seen(hbm, shape):
    """What the meter saw must suffice for one of the five products in some spelling, or its numbers mean nothing."""
    pairs = shape.N * (shape.N + 1) // 2 if shape.causal else shape.N**2
    expect.that(
        hbm.work >= 2 * pairs * shape.d,
        "most of the arithmetic of this kernel happened where the meter does not look: work on the tiles with torch, "
        "in the thread that was called",
    )


def held(run):
    """Elements that must have been on chip, wherever the kernel kept them; every row depends on every key, no mask."""
    given, (dQ, dK, dV) = run.inputs, run.returned
    return max(
        must_hold(run.hbm, given[keys], output, given.values(), given[queries])
        for keys, output, queries in (("K", dQ, "Q"), ("V", dQ, "dO"), ("Q", dK, "K"), ("dO", dV, "V"))
    )


@check(
    points=5, kind="flops", stub="flash_attention_backward", depends=[test_flash_gradients],
    hint="Five products of 2 Br Bc d per tile: S, dV, dP, dQ, dK. Count yours; D needs none of them.",
)  # fmt: skip
@pytest.mark.parametrize(
    "shape",
    [Shape(32, 8, (8, 16)), Shape(27, 5, (8, 6), True), Shape(32, 4, (4, 8), True)],
    ids=["full", "ragged", "causal"],
)
def test_flash_flops(submission, rng, shape):
    """multiplies five matrices per tile, none for a future block"""
    run = run_flash(submission, make_problem(rng, shape), shape, measured=True)
    expect_seen(run.hbm, shape)
    limit = 10 * shape.d * unskipped(shape).pairs + 2 * shape.N * shape.d
    expect.at_most("matrix products", run.hbm.flops, limit, "FLOPs")


@check(
    points=5, kind="memory", stub="flash_attention_backward", depends=[test_flash_gradients],
    hint="Whatever lives on chip across the outer loop must be of block size. D has N entries: it belongs in HBM.",
)  # fmt: skip
@pytest.mark.parametrize("causal", [False, True], ids=["full", "causal"])
def test_flash_on_chip(submission, rng, causal):
    """needs the same on-chip memory for N and for 2N rows"""
    N, peaks, rows, proved = 64, [], [], []
    for length in (N, 2 * N):
        shape = Shape(length, 4, (16, 16), causal)
        run = run_flash(submission, make_problem(rng, shape), shape, measured=True)
        expect_seen(run.hbm, shape)
        peaks.append(run.hbm.sram_peak)
        proved.append(0 if causal else held(run))
        reads = [event.slice[0] for event in run.hbm.trace if event.op == "read"]
        rows.append(max(stop - start for start, stop in reads))
    expect.that(
        rows[1] - rows[0] < N / 2, f"a tile grows with N: {rows[0]} rows at once, {rows[1]} for twice the length"
    )
    for what, (short, long) in (("the on-chip peak", peaks), ("what must have been kept outside HBM", proved)):
        expect.that(long - short < N / 2, f"{what} grows with N: from {short} to {long} elements")


@check(
    points=2, kind="memory", stub="flash_attention_backward", depends=[test_flash_gradients],
    hint="P, dP and dS exist one tile at a time; HBM holds the three results and D.",
)  # fmt: skip
def test_flash_allocation(submission, rng):
    """allocates nothing of N x N elements"""
    shape = Shape(72, 4, (24, 24))
    allocated = run_flash(submission, make_problem(rng, shape), shape).hbm.allocated
    expect.that(allocated < shape.N**2, f"{allocated} elements were allocated, N x N is {shape.N**2}")


@check(
    points=2, kind="errors", stub="flash_attention_backward", depends=[test_flash_gradients],
    hint="range(0, N, -4) is empty, not an error: check both block sizes before the loops.",
)  # fmt: skip
def test_flash_block_errors(submission, rng):
    """refuses block sizes below 1 with ValueError"""
    for block in ((0, 4), (4, 0), (-1, 4), (4, -2)):
        shape = Shape(8, 4, block)
        problem = make_problem(rng, Shape(8, 4, (4, 4)))
        with raises("ValueError"):
            run_flash(submission, problem, shape)


# -------------------------------------------------------------------------------------------------------- MLP: the data
class Stack(NamedTuple):
    """x, weights and the gradient of the output, with what plain float64 autograd makes of them."""

    x: torch.Tensor
    weights: list[torch.Tensor]
    grad_out: torch.Tensor
    hidden: list[torch.Tensor]  # h_0 = x, h_1, ..., h_n
    grad_x: torch.Tensor
    grads: list[torch.Tensor]

    def checkpoints(self, k):
        kept = [h for layer, h in enumerate(self.hidden[:-1]) if layer % k == 0]
        return [h.detach().clone() for h in kept]

    def segments(self, k):
        """Elements of h_l in each segment."""
        sizes = [h.numel() for h in self.hidden[1:]]
        return [sum(sizes[first : first + k]) for first in range(0, len(sizes), k)]


def make_stack(rng, widths, batch, dtype=torch.float64):
    def normal(*size, std=1.0):
        return torch.from_numpy(std * rng.normal(size=size)).to(dtype)

    x = normal(batch, widths[0]).requires_grad_()
    weights = [normal(a, b, std=1.2 / math.sqrt(a)).requires_grad_() for a, b in pairwise(widths)]
    grad_out = normal(batch, widths[-1])
    wide_x, *wide = [t.detach().double().requires_grad_() for t in (x, *weights)]
    hidden = list(accumulate([wide_x, *wide], lambda h, W: torch.tanh(h @ W)))
    grad_x, *grads = torch.autograd.grad(hidden[-1], [wide_x, *wide], grad_out.double())
    return Stack(x, weights, grad_out, [h.detach().to(dtype) for h in hidden], grad_x, grads)


DEPTHS = {
    "even": (6, 3), "uneven": (7, 3), "short-tail": (5, 2), "every-layer": (4, 1), "one-segment": (4, 4),
    "beyond": (3, 9), "one-layer": (1, 1),
}  # fmt: skip
UNEVEN_WIDTHS = {  # widths and k: the segment with most layers is not always the one that saves most
    "wide-tail": ([3, 2, 3, 2, 11], 3), "wide-head": ([4, 9, 8, 3, 3, 2], 2),
    "wide-middle": ([3, 3, 2, 2, 12, 3, 3, 4, 2], 3),
}  # fmt: skip
ROUNDING = 2000.0
"""Floor in eps: a deep stack amplifies the rounding of its first layer; a wrong gradient is off by far more."""


def stacks(rng, case, batch=3):
    """(stack, k) of that case class."""
    if case == "float32":
        return [(make_stack(rng, [5] * 6, batch, torch.float32), 2)]
    if case == "rectangular":
        return [(make_stack(rng, widths, batch), k) for widths, k in UNEVEN_WIDTHS.values()]
    layers, k = DEPTHS[case]
    return [(make_stack(rng, [5] * (layers + 1), batch), k)]


def run_backward(submission, stack, k):
    """grads, peak, recomputed as the submission returned them."""
    facts = expect.mapping(
        "facts", submission.driver.backward(stack.weights, stack.checkpoints(k), k, stack.grad_out), BACKWARD_FACTS
    )
    return expect.sequence("the returned (grads, peak, recomputed)", facts["result"], 3)


def expect_weight_gradients(stack, grads):
    for l, (got, reference) in enumerate(zip(expect.sequence("grads", grads, len(stack.grads)), stack.grads)):
        expect.tensor(f"grads[{l}]", got, shape=reference.shape, dtype=stack.x.dtype)
        expect.close(f"grads[{l}]", got, reference, floor_eps=ROUNDING)


# --------------------------------------------------------------------------------------------------------- MLP: forward
@check(
    points=4, kind="values", stub="mlp_stack_forward",
    hint="Write down the layers after which something is kept for 6 and for 7 layers with k = 3, then compare.",
)  # fmt: skip
@pytest.mark.parametrize("case", [*DEPTHS, "rectangular", "float32"])
def test_forward_checkpoints(submission, rng, case):
    """keeps x and every k-th activation, none after the last layer; the output is that of the plain stack"""
    for stack, k in stacks(rng, case):
        for keep, kept in ((k, stack.checkpoints(k)), ("all", [])):
            facts = expect.mapping("facts", submission.driver.forward(stack.x, stack.weights, keep), FORWARD_FACTS)
            h, checkpoints = expect.sequence("the returned (h, checkpoints)", facts["result"], 2)
            expect.tensor("h", h, shape=stack.hidden[-1].shape, dtype=stack.x.dtype)
            expect.close("h", h, stack.hidden[-1], floor_eps=ROUNDING)
            found = expect.sequence("checkpoints", checkpoints)
            which = 'keep="all"' if keep == "all" else f"{len(stack.weights)} layers and keep={keep}"
            expect.that(len(found) == len(kept), f"{len(found)} checkpoints for {which}, expected {len(kept)}")
            for s, (got, reference) in enumerate(zip(found, kept)):
                expect.tensor(f"checkpoints[{s}]", got, shape=reference.shape, dtype=stack.x.dtype)
                expect.close(f"checkpoints[{s}]", got, reference, floor_eps=ROUNDING)


@check(
    points=2, kind="values", stub="mlp_stack_forward",
    hint='keep="all" is the forward you would write without this exercise: no detach, no no_grad.',
)  # fmt: skip
def test_forward_all_is_differentiable(submission, rng):
    """keep="all" connects the output to x and to every weight"""
    (stack, _) = stacks(rng, "uneven")[0]
    got = submission.driver.graph_gradients(stack.x, stack.weights, stack.grad_out)
    references = [stack.grad_x, *stack.grads]
    for l, (grad, reference) in enumerate(zip(expect.sequence("gradients", got, len(references)), references)):
        name = "x" if l == 0 else f"weights[{l - 1}]"
        expect.that(grad is not None, f'with keep="all" the graph of h does not reach {name}')
        expect.close(f"gradient of {name}", grad, reference, floor_eps=ROUNDING)


@check(
    points=2, kind="memory", stub="mlp_stack_forward", depends=[test_forward_checkpoints],
    hint="Detaching afterwards is too late: the graph was built and held the activations. Tell autograd before.",
)  # fmt: skip
@pytest.mark.parametrize("case", ["uneven", "beyond"])
def test_forward_builds_no_graph(submission, rng, case):
    """keep=k builds no graph, not even for one layer"""
    for stack, k in stacks(rng, case):
        facts = expect.mapping("facts", submission.driver.forward(stack.x, stack.weights, k), FORWARD_FACTS)
        expect.that(facts["graph"] is False, "a returned tensor requires grad: the activations behind it stay alive")
        built = submission.driver.graph_built(stack.x, stack.weights, k)
        if built is not None:
            expect.at_most("the forward", built, 0, "tensors saved for a backward")


# -------------------------------------------------------------------------------------------------------- MLP: backward
@check(
    points=6, kind="values", stub="checkpointed_backward",
    hint="The gradient of a segment's input is the output gradient of the segment before. Is the last one shorter?",
)  # fmt: skip
@pytest.mark.parametrize("case", [*DEPTHS, "rectangular", "float32"])
def test_backward_gradients(submission, rng, case):
    """the gradient of every weight is that of plain autograd"""
    for stack, k in stacks(rng, case):
        expect_weight_gradients(stack, run_backward(submission, stack, k)[0])


@check(
    points=1, kind="values", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="Hand your own forward's checkpoints to your own backward: do both mean the same by k?",
)  # fmt: skip
def test_backward_round_trip(submission, rng):
    """works from the checkpoints of your own forward"""
    (stack, k) = stacks(rng, "uneven")[0]
    result = submission.driver.round_trip(stack.x, stack.weights, k, stack.grad_out)
    expect_weight_gradients(stack, expect.sequence("the returned (grads, peak, recomputed)", result, 3)[0])


@check(
    points=5, kind="exactness", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="Count elements, not tensors: all checkpoints, plus h_l for the layers of the one segment that saves most.",
)  # fmt: skip
@pytest.mark.parametrize("case", [*DEPTHS, *UNEVEN_WIDTHS])
def test_backward_account(submission, rng, case):
    """reports the peak in elements and the number of layers run again, exactly"""
    if case in UNEVEN_WIDTHS:
        widths, k = UNEVEN_WIDTHS[case]
        stack = make_stack(rng, widths, 2)
    else:
        stack, k = stacks(rng, case, batch=4)[0]
    grads, peak, recomputed = run_backward(submission, stack, k)
    expect_weight_gradients(stack, grads)
    wanted = sum(c.numel() for c in stack.checkpoints(k)) + max(stack.segments(k))
    expect.that(expect.number("peak", peak) == wanted, "peak is not the number of elements held")
    layers = len(stack.weights)
    expect.that(expect.number("recomputed", recomputed) == layers, "recomputed is not the number of layers run again")


@check(
    points=4, kind="counts", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="From a checkpoint, run the k layers of its segment and no others; tanh' = 1 - h^2 needs no second tanh.",
)  # fmt: skip
@pytest.mark.parametrize("case", ["even", "uneven", "one-segment", "rectangular"])
def test_backward_recomputes_once(submission, rng, case):
    """runs every layer again exactly once"""
    for stack, k in stacks(rng, case):
        facts = submission.driver.executed(stack.weights, stack.checkpoints(k), k, stack.grad_out)
        tanh = expect.integer("elements through tanh", expect.mapping("facts", facts, EXECUTED_FACTS)["tanh"])
        once = sum(h.numel() for h in stack.hidden[1:])
        # None seen: they ran where the meter cannot look (numpy, exponentials); right gradients say that they ran.
        expect.that(tanh in (0, once), f"tanh was applied to {tanh} elements, once through every layer is {once}")


@check(
    points=4, kind="memory", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="When a segment is replayed the activations of the one after it are gone: nothing may refer to them.",
)  # fmt: skip
def test_backward_saves_one_segment(submission, rng):
    """never holds more activations than one segment's"""
    layers, k, batch, width = 36, 6, 7, 4
    stack = make_stack(rng, [width] * (layers + 1), batch)
    h = batch * width
    grads, peak, _ = run_backward(submission, stack, k)
    expect_weight_gradients(stack, grads)
    arguments = (stack.weights, stack.checkpoints(k), k, stack.grad_out)
    saved = submission.driver.saved_activations(*arguments)
    if saved is not None:
        held = (layers // k) * h + expect.integer("saved activations", saved)
        copy = h  # a segment's input may be a copy of its checkpoint
        reported = expect.number("peak", peak) + copy
        expect.that(held <= reported, f"checkpoints and saved activations are {held} elements, peak says {peak}")
    alive = expect.integer(
        "activations", expect.mapping("facts", submission.driver.executed(*arguments), EXECUTED_FACTS)["alive"]
    )
    # Pre-activations, derivatives and gradients may stand beside h; the whole stack may not.
    limit = (3 * k + 10) * h
    expect.that(alive <= limit, f"{alive // h} activations were alive at once, a segment has {k} of the {layers}")


@check(
    points=2, kind="memory", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="With n layers of equal width, n/k checkpoints and k activations are held: what k makes the sum smallest?",
)  # fmt: skip
@pytest.mark.parametrize("layers", [9, 16, 20])
def test_backward_square_root(submission, rng, layers):
    """the peak at k = round(sqrt(n)) is below those at k = 1 and k = n"""
    stack = make_stack(rng, [3] * (layers + 1), 2)
    peaks = {}
    for k in (1, round(math.sqrt(layers)), layers):
        grads, peak, _ = run_backward(submission, stack, k)
        expect_weight_gradients(stack, grads)
        peaks[k] = expect.number("peak", peak)
    first, middle, last = peaks.values()
    expect.that(0 < middle < min(first, last), f"peak is {first:g}, {middle:g}, {last:g} for k = {list(peaks)}")


# ---------------------------------------------------------------------------------------------- MLP: errors, arguments
@check(
    points=1, kind="errors", stub="mlp_stack_forward", depends=[test_forward_checkpoints],
    hint="keep is either the word all or a number of layers; a number below 1 is neither.",
)  # fmt: skip
def test_forward_errors(submission, rng):
    """refuses keep below 1 with ValueError"""
    (stack, _) = stacks(rng, "even")[0]
    for keep in (0, -3):
        with raises("ValueError"):
            submission.mlp_stack_forward(stack.x, stack.weights, keep)


@check(
    points=1, kind="errors", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="A negative k makes an empty range, not an error: check it first.",
)  # fmt: skip
def test_backward_errors(submission, rng):
    """refuses k below 1 with ValueError"""
    (stack, k) = stacks(rng, "even")[0]
    for wrong in (0, -2):
        with raises("ValueError"):
            submission.checkpointed_backward(stack.weights, stack.checkpoints(k), wrong, stack.grad_out)


@check(
    points=1, kind="robustness", stub="mlp_stack_forward", depends=[test_forward_checkpoints],
    hint="In-place operations and requires_grad_() act on the caller's tensor; work on what you made yourself.",
)  # fmt: skip
def test_forward_arguments(submission, rng):
    """leaves x and the weights as they were"""
    (stack, k) = stacks(rng, "uneven")[0]
    for keep in (k, "all"):
        for requires_grad in (True, False):
            x, *weights = [t.detach().clone().requires_grad_(requires_grad) for t in (stack.x, *stack.weights)]
            facts = expect.mapping("facts", submission.driver.forward(x, weights, keep), FORWARD_FACTS)
            h, _ = expect.sequence("the returned (h, checkpoints)", facts["result"], 2)
            expect.close("h", h, stack.hidden[-1], floor_eps=ROUNDING)
            expect_unchanged(facts)


@check(
    points=2, kind="robustness", stub="checkpointed_backward", depends=[test_backward_gradients],
    hint="backward() adds to .grad of the weights you were given: differentiate with respect to detached copies.",
)  # fmt: skip
def test_backward_arguments(submission, rng):
    """leaves weights, checkpoints and grad_out as they were, .grad and requires_grad included"""
    (stack, k) = stacks(rng, "uneven")[0]
    for checkpoint_requires_grad in (False, True):
        checkpoints = stack.checkpoints(k)
        checkpoints[0].requires_grad_(checkpoint_requires_grad)  # x itself may be a leaf of the caller's
        facts = expect.mapping(
            "facts", submission.driver.backward(stack.weights, checkpoints, k, stack.grad_out), BACKWARD_FACTS
        )
        expect_weight_gradients(stack, expect.sequence("the result", facts["result"], 3)[0])
        expect_unchanged(facts)
    expect_frozen_weights_stay_frozen(submission, stack, k)


def expect_frozen_weights_stay_frozen(submission, stack, k):
    """Weights that do not require grad: refusing them is allowed, switching them on is not."""
    frozen = [W.detach().clone() for W in stack.weights]
    try:
        facts = submission.driver.backward(frozen, stack.checkpoints(k), k, stack.grad_out)
    except SubmissionRaised:
        return
    expect_unchanged(expect.mapping("facts", facts, BACKWARD_FACTS))


def expect_unchanged(facts):
    changed = [expect.text("changed", name) for name in expect.sequence("changed", facts["changed"])]
    expect.that(not changed, f"changed by the call: {', '.join(changed)}")
