"""A compile cache: which graph serves a KV cache of length S, when a new one is compiled, and what padding costs.

Sources: Ansel et al., "PyTorch 2", ASPLOS 2024, the section on symbolic shapes (guards, 0/1 specialisation, automatic
dynamic shapes); the bucket lists with which serving engines meet growing sequences.
"""

from collections import OrderedDict

import numpy as np

from course_lib import Compiler


def bucket_key(policy: str, S: int) -> int | str:
    """The key under which a policy files the graph for a KV cache of length S.

    exact       S itself
    pow2        the smallest power of two >= S
    mult128     the smallest multiple of 128 >= S
    symbolic    "S" for S >= 2, else S: sizes 0 and 1 are specialised
    automatic   as symbolic; that the first length is exact is the cache's business, not the key's

    S: an integer >= 1. The key is an integer (never a bool or a float) or the string "S", and it is right for every S
    up to 2**40: math.log(S, 2) is not.

    Raises ValueError for S < 1 and for an unknown policy.
    """
    raise NotImplementedError("hw4: bucket_key is not written yet")


class CompileCache:
    """Runs one decode step after the other, compiling as seldom as its policy allows.

    compiler: the metered device. `compiler.compile(S, masked=False)` gives an executable for a cache of length S (an
        int, or "S" for every length >= 2); `executable(inputs, bind)` runs it and returns (y, k_cache, v_cache).
        inputs: float64 arrays by name, "x", "k_cache", "v_cache", "cos", "sin", and "kmask" (1, 1, S) when masked.
        bind: {"P": slot of the new token}, and "S" as well for a symbolic graph.
    policy: "exact", "pow2", "mult128", "symbolic" or "automatic" (see `bucket_key`). The bucket policies, pow2 and
        mult128, compile masked graphs for the padded length; the others never mask. automatic compiles the first
        length it meets exactly and, once it has met two distinct lengths, uses the symbolic graph for every S >= 2.
    max_entries: how many executables are kept, at least 1; None for no bound. The least recently used one goes first,
        and when its key returns it is compiled again.

    Counters of this instance: `compiles`; `hits`, calls that found their executable; `evictions`; `real`, the sum of
    the lengths S it was called with; `padded`, the sum of the lengths the device worked on; `waste`.

    Contract: one compilation per miss, one run per call, no guard is ever violated (the device counts that, even when
    you catch the GuardError). Two instances share nothing, also when they share a compiler.

    Raises ValueError for an unknown policy (here or at the first call) and for max_entries < 1.
    """

    def __init__(self, compiler: Compiler, policy: str, *, max_entries: int | None = None):
        """See the class."""
        raise NotImplementedError("hw4: CompileCache.__init__ is not written yet")

    @property
    def waste(self) -> float:
        """padded / real - 1: the share of work spent on padding. 0.0 before the first call."""
        raise NotImplementedError("hw4: CompileCache.waste is not written yet")

    def __call__(self, x, k_cache, v_cache, cos, sin):
        """One decode step. Returns (y, k_cache, v_cache) for the real length, whatever length was compiled.

        x (1, d); k_cache, v_cache (kv_heads, S, head_dim) whose slot P = S - 1 is still to be written, so that what
        stands in it (or behind the end of a view) has no meaning and may be NaN; cos, sin (1, 1, head_dim). All of
        them float64 arrays, none is modified. y (1, d); the caches come back as (kv_heads, S, head_dim).

        Bucket policies pad both caches with zeros to the length of the bucket, hide the padding with a kmask of 0 and
        -inf, and slice the results back to S. The new token stays at P = S - 1, wherever the padding ends.

        Raises ValueError when S < 1.
        """
        raise NotImplementedError("hw4: CompileCache.__call__ is not written yet")
