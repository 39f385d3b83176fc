"""Public checks of hw4: the table of keys, short runs whose counts can be done by hand, outputs against the device."""

from __future__ import annotations

import numpy as np
import pytest

from autograder.checks import check, expect, raises
from course_lib import Compiler, LayerConfig, rope_tables

POLICIES = ["exact", "pow2", "mult128", "symbolic", "automatic"]
CONFIG = LayerConfig(d=8, heads=2, kv_heads=1, head_dim=4, ffn=8)
AGREE = 1e-12 / float(np.finfo(np.float64).eps)

TABLE = {
    1: [1, 1, 128, 1, 1],
    2: [2, 2, 128, "S", "S"],
    3: [3, 4, 128, "S", "S"],
    100: [100, 128, 128, "S", "S"],
    128: [128, 128, 128, "S", "S"],
    129: [129, 256, 256, "S", "S"],
    2**40: [2**40, 2**40, 2**40, "S", "S"],
}

GROWING = {  # (length, masked) of every graph for the lengths 6 to 29
    "exact": [(S, False) for S in range(6, 30)],
    "pow2": [(8, True), (16, True), (32, True)],
    "mult128": [(128, True)],
    "symbolic": [("S", False)],
    "automatic": [(6, False), ("S", False)],
}


def device_of(rng):
    """Two equal devices: one for the submission, one to compare with."""
    seed = int(rng.integers(2**31))
    return Compiler(CONFIG, seed=seed, optimize=False), Compiler(CONFIG, seed=seed, optimize=False)


def step_inputs(rng, S):
    kv = (CONFIG.kv_heads, S, CONFIG.head_dim)
    cos, sin = rope_tables(1, CONFIG.head_dim, start=S - 1)
    return rng.normal(size=(1, CONFIG.d)), rng.normal(size=kv), rng.normal(size=kv), cos, sin


@check(
    points=3, kind="values", stub="bucket_key", hint="Work the table of the handout out by hand for S = 128 and 129."
)
@pytest.mark.parametrize("policy", POLICIES)
def test_public_keys(submission, policy):
    """agrees with the table of the handout"""
    for S, keys in TABLE.items():
        expect.equal(f"key of {S}", submission.bucket_key(policy, S), keys[POLICIES.index(policy)])


@check(points=1, kind="errors", stub="bucket_key", hint="raise ValueError says what is wrong; returning None does not.")
def test_public_errors(submission):
    """refuses S = 0 and a policy that does not exist"""
    with raises("ValueError"):
        submission.bucket_key("pow2", 0)
    with raises("ValueError"):
        submission.bucket_key("fibonacci", 5)
    expect.equal("key of 5", submission.bucket_key("exact", 5), 5)


@check(
    points=5,
    kind="counts",
    stub="CompileCache",
    hint="List the keys of the lengths 6 to 29 and count the distinct ones.",
)
@pytest.mark.parametrize("policy", POLICIES)
def test_public_compiles(submission, rng, policy):
    """compiles once per key while the length grows from 6 to 29"""
    device, _ = device_of(rng)
    cache = submission.driver.new_cache(device, policy)
    for S in range(6, 30):
        cache(*step_inputs(rng, S))
    compiles = len(GROWING[policy])
    expect.that(device.compiles == compiles, f"the device compiled {device.compiles} times, {compiles} are needed")
    expect.that(
        device.log == GROWING[policy], f"a graph was compiled for another length or mask than {policy} asks for"
    )
    expect.that(device.runs == 24, f"the device ran {device.runs} times in 24 calls")
    expect.that(device.guard_errors == 0, "a guard of an executable was violated")
    expect.equal("compiles", cache.compiles, compiles)
    expect.equal("hits", cache.hits, 24 - compiles)


@check(points=3, kind="values", stub="CompileCache", hint="Compare one call with compiler.compile(S) run directly.")
@pytest.mark.parametrize("policy", POLICIES)
def test_public_outputs(submission, rng, policy):
    """gives the same results as a graph compiled for exactly this length"""
    device, twin = device_of(rng)
    cache = submission.driver.new_cache(device, policy)
    for S in (5, 6, 8, 2):
        arguments = step_inputs(rng, S)
        inputs = dict(zip(("x", "k_cache", "v_cache", "cos", "sin"), arguments))
        reference = twin.compile(S)(inputs, {"P": S - 1})
        got = expect.sequence("result", cache(*arguments), 3)
        for name, array, wanted in zip(("y", "k_cache", "v_cache"), got, reference):
            expect.close(name, array, wanted, floor_eps=AGREE, dtype="float64")


@check(
    points=2, kind="counts", stub="CompileCache", hint="With room for two, 7 after 5, 6, 5 drops 6: 5 was used last."
)
def test_public_eviction(submission, rng):
    """drops the least recently used executable"""
    device, _ = device_of(rng)
    cache = submission.driver.new_cache(device, "exact", max_entries=2)
    for S in (5, 6, 5, 7, 5, 6):
        cache(*step_inputs(rng, S))
    expect.that(
        device.log == [(S, False) for S in (5, 6, 7, 6)], "the graphs compiled are not those of lengths 5, 6, 7, 6"
    )
    expect.equal("evictions", cache.evictions, 2)


@check(points=1, kind="exactness", stub="CompileCache", hint="(8 + 8 + 16) / (5 + 8 + 9) - 1.")
def test_public_waste(submission, rng):
    """reports the share of work spent on padding"""
    device, _ = device_of(rng)
    cache = submission.driver.new_cache(device, "pow2")
    for S in (5, 8, 9):
        cache(*step_inputs(rng, S))
    expect.that(device.log == [(8, True), (16, True)], "the graphs compiled are not masked ones of lengths 8 and 16")
    expect.equal("real", cache.real, 22)
    expect.equal("padded", cache.padded, 32)
    expect.close("waste", cache.waste, 10 / 22)
