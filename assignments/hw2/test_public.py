"""Public checks of hw2: attention whose result is known in closed form, and traffic against the formulas."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
import torch

from autograder.checks import check, expect, raises
from course_lib import HBM, HBMArray
from course_lib.hbm import contents
from course_lib.hbm_contract import allowance

STANDARD, V1, V2 = "standard_attention", "flash_attention_v1", "flash_attention_v2"
RESULTS = {STANDARD: ("O", "P"), V1: ("O", "l", "m"), V2: ("O", "L")}
KERNELS = pytest.mark.parametrize("stub", [STANDARD, V1, V2], ids=["standard", "v1", "v2"])
FLASH = pytest.mark.parametrize("stub", [V1, V2], ids=["v1", "v2"])


class Run(NamedTuple):
    """A kernel's call: the device, the inputs' handles by name, the results' handles by name."""

    hbm: HBM
    inputs: dict[str, HBMArray]
    results: dict[str, HBMArray]


def run(submission, stub, tensors, block, causal=False):
    """Call a kernel on a device of its own; its results are handles of the promised shape and dtype."""
    hbm = HBM(measured=False)
    arrays = {name: hbm.array(tensor, name) for name, tensor in zip("QKV", tensors)}
    options = {"causal": True} if causal else {}
    if stub != STANDARD:
        options["block"] = block
    names = RESULTS[stub]
    got = expect.sequence(
        f"the result of {stub}", getattr(submission, stub)(hbm, *arrays.values(), **options), len(names)
    )
    N, d = tensors[0].shape
    for name, handle in zip(names, got):
        expect.that(
            isinstance(handle, HBMArray) and handle._device is hbm,
            f"{name} must be returned as an HBMArray of the given hbm, got {expect.describe(handle)}",
        )
        shape = {"O": (N, d), "P": (N, N)}.get(name, (N,))
        expect.that(
            handle.shape == shape and handle.dtype == tensors[0].dtype,
            f"{name} must have shape {shape} and the inputs' dtype, got {handle.shape} and {handle.dtype}",
        )
    return Run(hbm, arrays, dict(zip(names, got)))


def normal(torch_rng, *shape):
    return torch.randn(*shape, generator=torch_rng, dtype=torch.float64)


def log_sum_exp(results):
    """What the kernel says about the normalisation of each row, None where it says nothing."""
    if "L" in results:
        return contents(results["L"])
    return contents(results["m"]) + torch.log(contents(results["l"])) if "l" in results else None


@check(
    points=5,
    kind="values",
    stub=V2,
    hint="With equal keys all weights of a row are equal: O is the mean of the values that the query sees.",
)
@KERNELS
@pytest.mark.parametrize("case", ["ragged", "causal"])
def test_public_uniform(submission, torch_rng, stub, case):
    """when all keys are equal, O is the (running) mean of V and the log-sum-exp is score + log n"""
    N, d, causal = 22, 8, case == "causal"
    Q, V = normal(torch_rng, N, d) + 0.5, normal(torch_rng, N, d) + 1
    K = (normal(torch_rng, 1, d) + 1).expand(N, d)
    done = run(submission, stub, (Q, K, V), (4, 6), causal)
    n = torch.arange(1, N + 1, dtype=torch.float64) if causal else torch.full((N,), float(N), dtype=torch.float64)
    mean = V.cumsum(0) / n[:, None] if causal else V.mean(0).expand(N, d)
    expect.close("O", contents(done.results["O"]), mean, logits=10)
    lse = log_sum_exp(done.results)
    if lse is not None:
        expect.close("the log-sum-exp", lse, Q @ K[0] / math.sqrt(d) + torch.log(n), logits=10)


@check(
    points=4,
    kind="values",
    stub=V2,
    hint="Scores around 1000 overflow exp: subtract the largest score of each row, seen so far, before exponentiating.",
)
@KERNELS
@pytest.mark.parametrize("case", ["hot"])
def test_public_lookup(submission, torch_rng, stub, case):
    """when each query matches one key by far, O picks that key's value"""
    N = 12
    chosen = torch.randperm(N, generator=torch_rng)
    K = 60 * torch.eye(N, dtype=torch.float64)
    V = normal(torch_rng, N, N) + 1
    done = run(submission, stub, (K[chosen], K, V), (5, 3))
    expect.close("O", contents(done.results["O"]), V[chosen], logits=1)


@check(
    points=7,
    kind="counts",
    stub=V2,
    hint="Which loop does each read belong to? Compare with the table in the function's docstring.",
)
@KERNELS
@pytest.mark.parametrize(
    ("case", "block"), [("square", (8, 8)), ("rectangular", (6, 12))], ids=["square", "rectangular"]
)
def test_public_counts(submission, torch_rng, stub, case, block):
    """each array is read and written no more often than the contract allows"""
    N, d = 40, 8
    Q, V = normal(torch_rng, N, d), normal(torch_rng, N, d) + 1
    K = (normal(torch_rng, 1, d)).expand(N, d)
    done = run(submission, stub, (Q, K, V), block)
    expect.close("O", contents(done.results["O"]), V.mean(0).expand(N, d), logits=10)
    once, (Tr, Tc) = N * d, (-(-N // size) for size in block)
    contract = {
        STANDARD: {"Q": (once, 0), "K": (once, 0), "V": (once, 0), "O": (0, once), "P": (N * N, N * N)},
        V1: {
            "Q": (Tc * once, 0),
            "K": (once, 0),
            "V": (once, 0),
            "O": (Tc * once, once + Tc * once),
            **dict.fromkeys("lm", (Tc * N, N + Tc * N)),
        },
        V2: {"Q": (once, 0), "K": (Tr * once, 0), "V": (Tr * once, 0), "O": (0, once), "L": (0, N)},
    }[stub]
    spare = (N * N, N * N) if stub == STANDARD else (0, 0)
    handles = {**done.inputs, **done.results}
    expect.ledger(done.hbm, allowance(done.hbm, {handles[name]: pair for name, pair in contract.items()}, spare))


@check(points=1, kind="exactness", stub="block_sizes", hint="Bc = ceil(M / (4 d)), Br = min(Bc, d), both integers.")
def test_public_block_sizes(submission):
    """block_sizes agrees with sizes worked out by hand"""
    for (M, d), wanted in {(4096, 64): (16, 16), (4097, 64): (17, 17), (32768, 32): (32, 256), (3, 2): (1, 1)}.items():
        expect.equal(f"block_sizes({M}, {d})", submission.block_sizes(M, d), wanted)


@check(
    points=2, kind="exactness", stub="io_formula", hint="Count elements, reads and writes together, in whole blocks."
)
def test_public_formula(submission):
    """io_formula agrees with traffic worked out by hand"""
    for arguments, wanted in {
        ("standard", 4, 2): 96,
        ("v1", 4, 2, 2, 2): 112,
        ("v1", 4, 2, 2, 3): 112,
        ("v2", 4, 2, 2, 2): 52,
        ("v2", 5, 2, 2, 5): 85,
    }.items():
        expect.equal(f"io_formula{arguments}", submission.io_formula(*arguments), wanted)


@check(points=1, kind="errors", stub=V2, hint="Check both sizes first, with `raise ValueError(...)`.")
@FLASH
def test_public_block_errors(submission, torch_rng, stub):
    """a block size of 0 raises ValueError, a size that is allowed averages V"""
    Q, V = normal(torch_rng, 6, 4), normal(torch_rng, 6, 4) + 1
    tensors = (Q, normal(torch_rng, 1, 4).expand(6, 4), V)
    done = run(submission, stub, tensors, (6, 6))
    along = torch.nn.functional.cosine_similarity(contents(done.results["O"]), V.mean(0).expand(6, 4), dim=1)
    expect.that(bool((along > 0.999).all()), "O must go along the mean of V, since all keys are equal")
    for block in ((0, 2), (2, 0)):
        with raises("ValueError"):
            run(submission, stub, tensors, block)
