"""Public checks of hw3: the README's example by hand, difference quotients, and the contracts in closed form."""

import math

import numpy as np
import pytest
import torch

from autograder.checks import check, expect
from course_lib import HBM, HBMArray
from course_lib.hbm import contents

FORWARD_FACTS, BACKWARD_FACTS = ("result", "graph", "changed"), ("result", "changed")
STEP = 1e-5
DIFFERENCE = {"floor_eps": 1e8}  # relative 2e-8: what a central difference with this step can promise


# ---------------------------------------------------------------------------------------------------------- attention
def softmax_attention(Q, K, V, causal):
    """O and L of the whole matrix, in float64."""
    S = Q @ K.T / math.sqrt(Q.shape[1])
    if causal:
        S = np.where(np.tri(len(S), dtype=bool), S, -np.inf)
    top = S.max(axis=1, keepdims=True)
    L = top[:, 0] + np.log(np.exp(S - top).sum(axis=1))
    return np.exp(S - L[:, None]) @ V, L, np.exp(S - L[:, None])


def by_hand():
    """Q, K, V, dO and the gradients of the README's example (N = 2, d = 4, only the first column is not zero)."""
    first = np.array([[1.0, 0, 0, 0]])
    Q, K, V, dO = (np.array([[a], [b]]) * first for a, b in ((2 * math.log(3), 0), (1, 0), (4, 0), (1, 2)))
    gradients = ((0.375, 1), (0.75 * math.log(3), -0.75 * math.log(3)), (1.75, 1.25))
    return (Q, K, V, dO), [np.array([[a], [b]]) * first for a, b in gradients]


def call(submission, stub, Q, K, V, dO, **options):
    """(hbm, [dQ, dK, dV] as arrays) of either backward, on what a forward pass left behind."""
    O, L, P = softmax_attention(Q, K, V, options.get("causal", False))
    hbm = HBM(measured=False)
    given = {"Q": Q, "K": K, "V": V, "P": P, "O": O, "dO": dO, "L": L}
    wanted = ("Q", "K", "V", "P", "dO") if stub == "standard_attention_backward" else ("Q", "K", "V", "O", "dO", "L")
    inputs = [hbm.array(torch.from_numpy(given[name]), name) for name in wanted]
    result = expect.sequence("the result", getattr(submission, stub)(hbm, *inputs, **options), 3)
    for name, handle in zip(("dQ", "dK", "dV"), result):
        expect.that(isinstance(handle, HBMArray), f"{name} must be a handle in hbm, got {expect.describe(handle)}")
    return hbm, [expect.array("gradient", contents(handle), shape=Q.shape) for handle in result]


def expect_slopes(rng, Q, K, V, dO, gradients, causal=False):
    """Along a few directions the gradients are the slopes of sum(dO * O)."""
    inputs = [Q, K, V]
    for which, (name, gradient) in enumerate(zip(("dQ", "dK", "dV"), gradients)):
        for _ in range(3):
            direction = rng.normal(size=Q.shape)
            ends = []
            for sign in (1, -1):
                moved = [a + sign * STEP * direction if i == which else a for i, a in enumerate(inputs)]
                ends.append(float((dO * softmax_attention(*moved, causal)[0]).sum()))
            slope = (ends[0] - ends[1]) / (2 * STEP)
            expect.close(f"slope along {name}", float((gradient * direction).sum()), slope, **DIFFERENCE)


def random_inputs(rng, N, d):
    return [rng.normal(size=(N, d)) + shift for shift in (0, 0, 0.5, 0.25)]


@check(
    points=3, kind="values", stub="standard_attention_backward",
    hint="Follow the README's example line by line: dV, dP, the row sums, dS, dQ, dK.",
)  # fmt: skip
@pytest.mark.parametrize("case", ["hand", "slopes"])
def test_public_standard_gradients(submission, rng, case):
    """gives the worked example's gradients, and the slopes of sum(dO * O)"""
    expect_gradients(submission, rng, case, "standard_attention_backward")


@check(
    points=3, kind="values", stub="flash_attention_backward",
    hint="Print P, dP, D and dS of the worked example: with block (1, 1) each tile is one number.",
)  # fmt: skip
@pytest.mark.parametrize("case", ["hand", "slopes", "causal"])
def test_public_flash_gradients(submission, rng, case):
    """gives the worked example's gradients, and the slopes of sum(dO * O)"""
    blocks = {"hand": [(1, 1), (2, 1), (4, 4)], "slopes": [(3, 4)], "causal": [(2, 5), (5, 2)]}[case]
    for block in blocks:
        expect_gradients(submission, rng, case, "flash_attention_backward", block=block, causal=case == "causal")


def expect_gradients(submission, rng, case, stub, **options):
    if case == "hand":
        inputs, wanted = by_hand()
        _, gradients = call(submission, stub, *inputs, **options)
        for name, got, reference in zip(("dQ", "dK", "dV"), gradients, wanted):
            expect.close(name, got, reference, floor_eps=32)
    else:
        inputs = random_inputs(rng, 11, 6)
        _, gradients = call(submission, stub, *inputs, **options)
        expect_slopes(rng, *inputs, gradients, options.get("causal", False))


@check(
    points=2, kind="counts", stub="standard_attention_backward", depends=[test_public_standard_gradients],
    hint="List for each of the five products what it reads and what it writes, then add up.",
)  # fmt: skip
def test_public_standard_traffic(submission, rng):
    """reads at most 5 N^2 + 5 N d and writes at most 2 N^2 + 3 N d elements"""
    N, d = 14, 4
    inputs = random_inputs(rng, N, d)
    hbm, gradients = call(submission, "standard_attention_backward", *inputs)
    expect_slopes(rng, *inputs, gradients)
    expect.at_most("HBM", hbm.reads, 5 * N * N + 5 * N * d, "elements read")
    expect.at_most("HBM", hbm.writes, 2 * N * N + 3 * N * d, "elements written")


@check(
    points=3, kind="counts", stub="flash_attention_backward", depends=[test_public_flash_gradients],
    hint="Print hbm.ledger beside the table of the README: which array was read more often than its line says?",
)  # fmt: skip
@pytest.mark.parametrize("case", ["full", "causal"])
def test_public_flash_traffic(submission, rng, case):
    """reads and writes at most what the contract says, in all"""
    N, d, Br, Bc = 18, 4, 3, 6
    inputs = random_inputs(rng, N, d)
    hbm, gradients = call(submission, "flash_attention_backward", *inputs, block=(Br, Bc), causal=case == "causal")
    expect_slopes(rng, *inputs, gradients, case == "causal")
    # Rows of Q that the Tc = 3 blocks of K visit; causal: block j starts at row 6 j and skips the rows before.
    visited = N + (N - 6) + (N - 12) if case == "causal" else 3 * N
    expect.at_most("HBM", hbm.reads, 4 * N * d + visited * (3 * d + 2), "elements read")
    expect.at_most("HBM", hbm.writes, N + 3 * N * d + visited * d, "elements written")


# ---------------------------------------------------------------------------------------------------------------- MLP
def stack(rng, layers, width=3, batch=2):
    weights = [torch.from_numpy(rng.normal(size=(width, width))).requires_grad_() for _ in range(layers)]
    return torch.from_numpy(rng.normal(size=(batch, width))), weights


def activations(x, weights):
    """h_0 = x, h_1, ..., h_n."""
    hidden = [x.detach().numpy()]
    for W in weights:
        hidden.append(np.tanh(hidden[-1] @ W.detach().numpy()))
    return hidden


@check(
    points=2, kind="values", stub="mlp_stack_forward",
    hint="The list in the docstring: 7 layers with k = 3 keep x, h_3, h_6; 6 layers keep x, h_3.",
)  # fmt: skip
@pytest.mark.parametrize("layers", [6, 7])
def test_public_forward_checkpoints(submission, rng, layers):
    """keeps x and every third activation, none after the last layer"""
    x, weights = stack(rng, layers)
    hidden = activations(x, weights)
    facts = expect.mapping("facts", submission.driver.forward(x, weights, 3), FORWARD_FACTS)
    h, checkpoints = expect.sequence("the result", facts["result"], 2)
    expect.close("h", h, hidden[-1], floor_eps=1000)
    kept = [layer for layer in range(layers) if layer % 3 == 0]
    for layer, checkpoint in zip(kept, expect.sequence("checkpoints", checkpoints, len(kept))):
        expect.close(f"the checkpoint of h_{layer}", checkpoint, hidden[layer], floor_eps=1000)


@check(
    points=4, kind="exactness", stub="checkpointed_backward",
    hint="With one layer and k = 1 the gradient is x^T (grad_out * (1 - h^2)); get that right first.",
)  # fmt: skip
@pytest.mark.parametrize("case", ["one-layer", "five-layers"])
def test_public_checkpointed_backward(submission, rng, case):
    """gives the slopes of sum(grad_out * h), the docstring's peak and every layer once"""
    layers, k, peak = {"one-layer": (1, 1, 12), "five-layers": (5, 2, 30)}[case]
    x, weights = stack(rng, layers)
    grad_out = torch.from_numpy(rng.normal(size=x.shape))
    hidden = activations(x, weights)
    checkpoints = [torch.from_numpy(hidden[layer]) for layer in range(0, layers, k)]
    facts = expect.mapping("facts", submission.driver.backward(weights, checkpoints, k, grad_out), BACKWARD_FACTS)
    grads, got_peak, recomputed = expect.sequence("the result", facts["result"], 3)
    for layer, grad in enumerate(expect.sequence("grads", grads, layers)):
        gradient = expect.array(f"grads[{layer}]", grad, shape=weights[layer].shape)
        direction = torch.from_numpy(rng.normal(size=gradient.shape))
        ends = []
        for sign in (1, -1):
            moved = [W + sign * STEP * direction if i == layer else W for i, W in enumerate(weights)]
            ends.append(float((grad_out.numpy() * activations(x, moved)[-1]).sum()))
        slope = (ends[0] - ends[1]) / (2 * STEP)
        expect.close(f"slope along grads[{layer}]", float((gradient * direction.numpy()).sum()), slope, **DIFFERENCE)
    expect.that(expect.number("peak", got_peak) == peak, f"peak is {got_peak}, the docstring counts {peak}")
    expect.that(expect.number("recomputed", recomputed) == layers, f"{layers} layers are run again, each once")
