"""Hidden checks of hw4: keys, what the device compiled and ran, counters, and outputs against the layer itself."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from autograder.checks import SubmissionRaised, check, expect, raises
from course_lib import Compiler, LayerConfig, decode_layer, layer_params, rope_tables
from course_lib.compiler import run_log

POLICIES = ["exact", "pow2", "mult128", "symbolic", "automatic"]
BUCKETS = ["pow2", "mult128"]
CONFIG = LayerConfig(d=8, heads=4, kv_heads=2, head_dim=4, ffn=8)
SMALL = LayerConfig(d=4, heads=2, kv_heads=1, head_dim=2, ffn=4)  # for many steps
AGREE = 1e-12 / float(np.finfo(np.float64).eps)  # the budget of 1e-12 of the largest element, in eps
KNOWN = {"exact": 512, "pow2": 4, "mult128": 5, "symbolic": 1, "automatic": 2}


# -------------------------------------------------------------------------------------------------------- the workload
def new_device(rng, config=CONFIG):
    """A device with weights of its own, and those weights."""
    seed = int(rng.integers(2**31))
    return Compiler(config, seed=seed, optimize=False), layer_params(config, seed)


def step_inputs(rng, S, config=CONFIG):
    """Arguments of one call with a cache of length S."""
    kv = (config.kv_heads, S, config.head_dim)
    cos, sin = rope_tables(1, config.head_dim, start=max(S - 1, 0))
    return rng.normal(size=(1, config.d)), rng.normal(size=kv), rng.normal(size=kv), cos, sin


def reference_step(params, arguments, config=CONFIG):
    """(y, k_cache, v_cache) of the layer, written out and never compiled."""
    layer = decode_layer(config, position=arguments[1].shape[1] - 1)
    return layer(**dict(zip(("x", "k_cache", "v_cache", "cos", "sin"), arguments)), **params)


def agree(name, got, reference):
    """Within 1e-12 of the largest element."""
    expect.close(name, got, reference, floor_eps=AGREE, dtype="float64")


def outputs_agree(result, reference):
    for name, got, wanted in zip(("y", "k_cache", "v_cache"), expect.sequence("result", result, 3), reference):
        agree(name, got, wanted)


# ----------------------------------------------------------------------------------------------- what is to be counted
class Recorder:
    """Stands in for a device when only the order of compilations and runs of the solution is wanted."""

    def __init__(self):
        self.log, self.runs = [], []

    def compile(self, S, masked=False):
        self.log.append((S, masked))

        def run(inputs, bind):
            self.runs.append((S, masked))
            return inputs["x"], inputs["k_cache"], inputs["v_cache"]

        return run


def wanted(solution, policy, lengths, max_entries=None):
    """The solution's cache after calls with these lengths, and the recorder it used."""
    recorder = Recorder()
    model = solution.CompileCache(recorder, policy, max_entries=max_entries)
    for S in lengths:
        kv = np.empty((1, S, 1))
        model(kv[:, 0], kv, kv, kv, kv)
    return model, recorder


def device_agrees(device, recorder, case):
    """Compilations in order, one run per call on the right graph, no guard violated."""
    expect.that(device.guard_errors == 0, f"a guard of an executable was violated ({case})")
    expect.that(
        device.compiles == len(recorder.log),
        f"the device compiled {device.compiles} times, {len(recorder.log)} are needed ({case})",
    )
    expect.that(
        device.log == recorder.log, f"a graph was compiled for another length or mask than the policy's ({case})"
    )
    expect.that(
        device.runs == len(recorder.runs), f"the device ran {device.runs} times in {len(recorder.runs)} calls ({case})"
    )
    expect.that(run_log(device) == recorder.runs, f"a call was run by another graph than the policy's ({case})")


def counters_agree(cache, model):
    for name in ("compiles", "hits", "evictions"):
        expect.equal(name, getattr(cache, name), getattr(model, name))


def play(submission, rng, policy, lengths, max_entries=None):
    """A cache of its own, called once per length; returns it and its device."""
    device, _ = new_device(rng, SMALL)
    options = {} if max_entries is None else {"max_entries": max_entries}
    cache = submission.driver.new_cache(device, policy, **options)
    for S in lengths:
        cache(*step_inputs(rng, S, SMALL))
    return cache, device


def wandering(rng, n=14):
    """Lengths that come back, cross buckets in both directions and include 1."""
    pool = [1, 2, *(int(S) for S in rng.integers(3, 300, 4)), 128, 129, 257]
    return [int(S) for S in rng.choice(pool, n)]


# ---------------------------------------------------------------------------------------------------------- bucket_key
def key_of(policy, S):
    """The definition, by search rather than by formula."""
    if policy == "exact":
        return S
    if policy == "pow2":
        return next(2**n for n in range(64) if 2**n >= S)
    if policy == "mult128":
        return S if S % 128 == 0 else S + 128 - S % 128
    return "S" if S >= 2 else S


@check(points=5, kind="values", stub="bucket_key", hint="Compare with the table at S = 1, 2, 3, 127, 128 and 129.")
@pytest.mark.parametrize("policy", POLICIES)
def test_keys(submission, rng, policy):
    """maps small lengths to the policy's keys"""
    corners = [1, 2, 3, 4, 5, 8, 9, 127, 128, 129, 255, 256, 257, 383, 384, 385]
    for S in [*corners, *(int(S) for S in rng.integers(2, 2000, 8))]:
        expect.equal("key", submission.bucket_key(policy, S), key_of(policy, S))


@check(points=8, kind="exactness", stub="bucket_key", hint="Floats have 53 bits and a logarithm rounds: use integers.")
@pytest.mark.parametrize("policy", POLICIES)
def test_keys_large(submission, rng, policy):
    """is exact for lengths up to 2^40"""
    powers = [2 ** int(n) for n in rng.permutation(np.arange(9, 41))[:12]] + [2**29, 2**39, 2**40]
    near = [power + shift for power in powers for shift in (-1, 0, 1) if power + shift <= 2**40]
    multiples = [128 * int(n) + shift for n in rng.integers(2**20, 2**33 - 1, 5) for shift in (-1, 0, 1)]
    for S in near + multiples:
        expect.equal("key", submission.bucket_key(policy, S), key_of(policy, S))


@check(points=3, kind="errors", stub="bucket_key", hint="Every policy needs room for the new token: S is at least 1.")
def test_keys_errors(submission, rng):
    """refuses S < 1 and unknown policies with ValueError"""
    for policy in POLICIES:
        for S in (0, -1, -int(rng.integers(2, 500))):
            with raises("ValueError"):
                submission.bucket_key(policy, S)
    for policy in ("pow3", "Exact", "mult", "", "dynamic"):
        with raises("ValueError"):
            submission.bucket_key(policy, int(rng.integers(2, 500)))
    S = int(rng.integers(2, 500))
    expect.equal("key of a length that is not to be refused", submission.bucket_key("exact", S), S)


# -------------------------------------------------------------------------------------------------------------- counts
@check(
    points=10,
    kind="counts",
    stub="CompileCache",
    hint="Print the key of every step: how many distinct ones are there?",
    time_limit=30,
)
@pytest.mark.parametrize("policy", POLICIES)
def test_known_answers(submission, solution, rng, policy):
    """compiles 512, 4, 5, 1 or 2 times in 512 steps from a prompt of 100"""
    device, params = new_device(rng, SMALL)
    xs, prompt, tables = decode_inputs(rng, 100, 512)
    cache = submission.driver.new_cache(device, policy)
    ys, k_rows, v_rows = expect.sequence("result", submission.driver.decode(cache, xs[:, None], *tables, *prompt), 3)
    case = f"{policy}, 512 steps from a prompt of 100"
    expect.that(
        device.compiles == KNOWN[policy], f"{device.compiles} compilations, {KNOWN[policy]} are needed ({case})"
    )
    device_agrees(device, wanted(solution, policy, range(101, 613))[1], case)
    expect.equal("compiles", cache.compiles, KNOWN[policy])
    expect.equal("hits", cache.hits, 512 - KNOWN[policy])
    y, k, v = decoded(params, xs, *prompt)
    agree("y", np.concatenate([expect.array("y", row, shape=(1, SMALL.d)) for row in expect.sequence("y", ys, 512)]), y)
    agree("rows of K", k_rows, k.transpose(1, 0, 2))
    agree("rows of V", v_rows, v.transpose(1, 0, 2))


def decode_inputs(rng, prompt, steps, config=SMALL):
    """xs (steps, d), the prompt's caches, and the tables of every step."""
    kv = (config.kv_heads, prompt, config.head_dim)
    cos, sin = (table[0][:, None, None] for table in rope_tables(steps, config.head_dim, start=prompt))
    return rng.normal(size=(steps, config.d)), (rng.normal(size=kv), rng.normal(size=kv)), (cos, sin)


def decoded(w, xs, k_prompt, v_prompt, config=SMALL):
    """All steps of a decode at once, as the layer is defined: y (steps, d) and the new rows of K and V."""
    steps, prompt, hd, kv = len(xs), k_prompt.shape[1], config.head_dim, config.kv_heads

    def norm(x, weight):
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-6) * weight

    def rotate(x):  # (steps, heads, hd)
        cos, sin = (table[0][:, None] for table in rope_tables(steps, hd, start=prompt))
        return x * cos + np.concatenate([-x[..., hd // 2 :], x[..., : hd // 2]], axis=-1) * sin

    h = norm(xs, w["attn_norm"])
    q = rotate((h @ w["wq"].T).reshape(steps, config.heads, hd)).reshape(steps, kv, -1, hd)
    k, v = rotate((h @ w["wk"].T).reshape(steps, kv, hd)), (h @ w["wv"].T).reshape(steps, kv, hd)
    K = np.concatenate([k_prompt, k.transpose(1, 0, 2)], axis=1)  # (kv, prompt + steps, hd)
    V = np.concatenate([v_prompt, v.transpose(1, 0, 2)], axis=1)
    scores = np.einsum("tkgd,ksd->tkgs", q, K) / np.sqrt(hd)
    visible = np.arange(prompt + steps) <= np.arange(prompt, prompt + steps)[:, None]  # (steps, prompt + steps)
    scores = np.where(visible[:, None, None], scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    o = np.einsum("tkgs,ksd->tkgd", p / p.sum(-1, keepdims=True), V).reshape(steps, -1)
    x = xs + o @ w["wo"].T
    h = norm(x, w["ffn_norm"])
    gate = h @ w["w_gate"].T
    return x + (gate / (1 + np.exp(-gate)) * (h @ w["w_up"].T)) @ w["w_down"].T, k, v


@check(
    points=10,
    kind="counts",
    stub="CompileCache",
    hint="One compilation per missing key, for the length and mask of the policy; one run per call.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_device_counts(submission, solution, rng, policy):
    """compiles and runs exactly what the policy asks for, on lengths that come and go"""
    for lengths in (wandering(rng), sorted(wandering(rng)), sorted(wandering(rng), reverse=True)):
        model, recorder = wanted(solution, policy, lengths)
        cache, device = play(submission, rng, policy, lengths)
        device_agrees(device, recorder, policy)
        counters_agree(cache, model)


@check(
    points=4,
    kind="counts",
    stub="CompileCache",
    hint="A size of 1 is never symbolic; automatic switches at the second distinct length.",
)
@pytest.mark.parametrize("policy", ["symbolic", "automatic"])
def test_specialisation(submission, solution, rng, policy):
    """compiles length 1 for itself, and automatic switches at the second distinct length"""
    a, b, c = (int(S) for S in rng.choice(np.arange(2, 60), 3, replace=False))
    for lengths in (
        [1, 1, 2, a, 1],
        [a, a, a, b, a, c],
        [a, 1, a, b],
        [2, 2, 1, 1, 2],
        [1, a, 1, a],
        [b, b],
        [2, 3, 2],
        [a, b, b, a, a],
    ):
        model, recorder = wanted(solution, policy, lengths)
        cache, device = play(submission, rng, policy, lengths)
        device_agrees(device, recorder, f"{policy}, lengths around 1 and 2")
        counters_agree(cache, model)


@check(
    points=8,
    kind="counts",
    stub="CompileCache",
    hint="A hit makes its key the most recently used; a new key makes room for itself.",
)
@pytest.mark.parametrize("max_entries", [1, 2, 3], ids=lambda n: f"keep{n}")
@pytest.mark.parametrize("policy", ["exact", "pow2", "mult128"])
def test_eviction(submission, solution, rng, policy, max_entries):
    """keeps max_entries executables and drops the least recently used one"""
    pool = {"exact": [3, 4, 5, 6, 7], "pow2": [1, 2, 3, 7, 12, 17, 33], "mult128": [5, 128, 129, 300, 513, 640]}[policy]
    a, b, c, d = (int(S) for S in rng.choice(pool, 4, replace=False))
    refreshed = [a, b, a, c, a, b, d, a, c, a]  # a is used again and again while others come
    for lengths in (refreshed, [int(S) for S in rng.choice(pool, 14)], [a, a, a], [a, b, c, d, a, b, c, d]):
        model, recorder = wanted(solution, policy, lengths, max_entries)
        cache, device = play(submission, rng, policy, lengths, max_entries)
        device_agrees(device, recorder, f"{policy}, max_entries {max_entries}")
        counters_agree(cache, model)


@check(
    points=5,
    kind="exactness",
    stub="CompileCache",
    hint="real adds up S, padded the length the graph worked on; without padding they are equal.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_counters(submission, solution, rng, policy):
    """counts hits, real and padded lengths after every call, and their waste"""
    device, _ = new_device(rng, SMALL)
    cache = submission.driver.new_cache(device, policy)
    expect.equal("waste", cache.waste, 0.0)
    lengths = wandering(rng, 8)
    for n, S in enumerate(lengths):
        cache(*step_inputs(rng, S, SMALL))
        model, _ = wanted(solution, policy, lengths[: n + 1])
        for name in ("compiles", "hits", "evictions", "real", "padded"):
            expect.equal(name, getattr(cache, name), getattr(model, name))
        got = expect.number("waste", cache.waste)
        expect.that(abs(got - model.waste) <= 1e-12 * (1 + model.waste), "waste is not padded / real - 1")
        expect.that(device.compiles == model.compiles, "the counter `compiles` and the device disagree")


# ------------------------------------------------------------------------------------------------------------- outputs
@check(
    points=10,
    kind="values",
    stub="CompileCache",
    hint="The new token belongs at P = S - 1 of the real cache, and the mask has to hide the padding and nothing else.",
)
@pytest.mark.parametrize("case", ["tiny", "ragged", "full-bucket"])
@pytest.mark.parametrize("policy", POLICIES)
def test_outputs(submission, rng, policy, case):
    """y agrees with the layer within 1e-12"""
    device, params = new_device(rng)
    cache = submission.driver.new_cache(device, policy)
    lengths = {
        "tiny": [1, 2, 1, 3, 2],
        "ragged": [5, 6, 7, 131, 5, 70, 6],
        "full-bucket": [4, 128, 8, 256, 128, 129, 4],
    }[case]
    for S in lengths:
        arguments = step_inputs(rng, S)
        y, _, _ = expect.sequence("result", cache(*arguments), 3)
        agree("y", y, reference_step(params, arguments)[0])


@check(
    points=5,
    kind="exactness",
    stub="CompileCache",
    hint="Slice the caches back to the real length; only row S - 1 may differ from what came in.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_caches(submission, rng, policy):
    """returns caches of the real length with only the last row written"""
    device, params = new_device(rng)
    cache = submission.driver.new_cache(device, policy)
    for S in (5, 1, 2, 9, 128, 130):
        arguments = step_inputs(rng, S)
        result = expect.sequence("result", cache(*arguments), 3)
        reference = reference_step(params, arguments)
        for name, got, given, wanted_cache in zip(("k_cache", "v_cache"), result[1:], arguments[1:3], reference[1:]):
            array = expect.array(name, got, shape=given.shape, dtype="float64")
            expect.equal(f"{name} before the last row", array[:, : S - 1], given[:, : S - 1])
            agree(f"last row of {name}", array[:, S - 1 :], wanted_cache[:, S - 1 :])


@check(
    points=8,
    kind="robustness",
    stub="CompileCache",
    hint="Zeros are only zeros when somebody wrote them, and 0 times NaN is NaN.",
)
@pytest.mark.parametrize("source", ["slot", "base", "heap"])
@pytest.mark.parametrize("policy", POLICIES)
def test_poison(submission, rng, policy, source):
    """never lets a NaN of the padding reach a result"""
    device, params = new_device(rng)
    cache = submission.driver.new_cache(device, policy)
    for S in (8, 5, 9, 1, 130, 3):  # the second one finds the bucket of the first, and less to fill it with
        arguments = step_inputs(rng, S)
        result = submission.driver.poisoned_step(cache, *arguments, source)
        outputs_agree(result, reference_step(params, arguments))


@check(
    points=3,
    kind="robustness",
    stub="CompileCache",
    hint="Copy before you write: the caller goes on using these arrays.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_inputs_kept(submission, rng, policy):
    """leaves its arguments as they were"""
    device, _ = new_device(rng)
    cache = submission.driver.new_cache(device, policy)
    for S in (6, 1, 8, 128, 9):
        changed = submission.driver.changed_inputs(cache, *step_inputs(rng, S))
        names = expect.sequence("changed arguments", changed)
        expect.that(not names, f"modified: {', '.join(str(name) for name in names)}")
    expect.that(device.runs >= 5, "a call has not run anything")


@check(
    points=3,
    kind="robustness",
    stub="CompileCache",
    hint="What lives on the class, in a module or in a default argument is shared by all instances.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_independent(submission, solution, rng, policy):
    """shares nothing between two instances, on one device or on two"""
    device, params = new_device(rng)
    other_device, other_params = new_device(rng)
    caches = [submission.driver.new_cache(one, policy) for one in (device, device, other_device)]
    lengths = (3, 3, 5)  # every cache meets one length of its own, twice
    for _ in range(2):
        for cache, weights, S in zip(caches, (params, params, other_params), lengths):
            arguments = step_inputs(rng, S)
            outputs_agree(cache(*arguments), reference_step(weights, arguments))
    models = [wanted(solution, policy, [S, S]) for S in lengths]
    for cache, (model, _) in zip(caches, models):
        counters_agree(cache, model)
        expect.equal("real", cache.real, model.real)
        expect.equal("padded", cache.padded, model.padded)
    expect.that(device.compiles == 2, "two instances on one device did not compile once each")
    device_agrees(other_device, models[2][1], "a device of its own")


# -------------------------------------------------------------------------------------------------------------- errors
@check(points=3, kind="errors", stub="CompileCache", hint="Check the arguments before anything is compiled.")
def test_refusals(submission, rng):
    """refuses unknown policies, max_entries < 1 and empty caches with ValueError"""
    for policy in ("pow3", "EXACT", ""):
        refused(submission, rng, policy, 4)
    for policy in POLICIES:
        refused(submission, rng, policy, 4, max_entries=0)
        refused(submission, rng, policy, 4, max_entries=-int(rng.integers(1, 9)))
        refused(submission, rng, policy, 0)
    device, _ = new_device(rng)
    with suppress(SubmissionRaised):  # whether it is right is judged elsewhere
        submission.driver.new_cache(device, "exact", max_entries=1)(*step_inputs(rng, int(rng.integers(2, 9))))
    expect.that(device.compiles > 0, "nothing is compiled where nothing is to be refused")


def refused(submission, rng, policy, S, **options):
    """Making a cache, or its first call with length S, raises ValueError before the device has done anything."""
    device, _ = new_device(rng)
    with raises("ValueError"):
        submission.driver.new_cache(device, policy, **options)(*step_inputs(rng, S))
    expect.that(device.compiles == 0 and device.runs == 0, "something was compiled before the arguments were refused")
