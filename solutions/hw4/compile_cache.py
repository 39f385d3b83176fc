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
    ### BEGIN SOLUTION
    if S < 1:
        raise ValueError(f"a KV cache holds at least the new token: S = {S} is not possible")
    if policy == "exact":
        return S
    if policy == "pow2":
        return 1 << (S - 1).bit_length()
    if policy == "mult128":
        return -(-S // 128) * 128
    if policy in ("symbolic", "automatic"):
        return "S" if S >= 2 else S
    raise ValueError(f"unknown policy {policy!r}: exact, pow2, mult128, symbolic or automatic")
    ### END SOLUTION


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
        ### BEGIN SOLUTION
        bucket_key(policy, 1)  # refuses an unknown policy
        if max_entries is not None and max_entries < 1:
            raise ValueError(f"max_entries is at least 1, not {max_entries}")
        self._compiler = compiler
        self._policy = policy
        self._max_entries = max_entries
        self._executables = OrderedDict()  # key -> executable, the least recently used first
        self._lengths = set()  # distinct lengths seen
        self.compiles = self.hits = self.evictions = self.real = self.padded = 0
        ### END SOLUTION

    @property
    def waste(self) -> float:
        """padded / real - 1: the share of work spent on padding. 0.0 before the first call."""
        ### BEGIN SOLUTION
        return self.padded / self.real - 1 if self.real else 0.0
        ### END SOLUTION

    def __call__(self, x, k_cache, v_cache, cos, sin):
        """One decode step. Returns (y, k_cache, v_cache) for the real length, whatever length was compiled.

        x (1, d); k_cache, v_cache (kv_heads, S, head_dim) whose slot P = S - 1 is still to be written, so that what
        stands in it (or behind the end of a view) has no meaning and may be NaN; cos, sin (1, 1, head_dim). All of
        them float64 arrays, none is modified. y (1, d); the caches come back as (kv_heads, S, head_dim).

        Bucket policies pad both caches with zeros to the length of the bucket, hide the padding with a kmask of 0 and
        -inf, and slice the results back to S. The new token stays at P = S - 1, wherever the padding ends.

        Raises ValueError when S < 1.
        """
        ### BEGIN SOLUTION
        S = k_cache.shape[1]
        key = self._key(S)
        masked = self._policy in ("pow2", "mult128")
        executable = self._executable(key, masked)
        length = key if masked else S
        self.real += S
        self.padded += length

        inputs = {"x": x, "k_cache": k_cache, "v_cache": v_cache, "cos": cos, "sin": sin}
        bind = {"P": S - 1}
        if key == "S":
            bind["S"] = S
        if masked:
            inputs["k_cache"] = _pad(k_cache, length)
            inputs["v_cache"] = _pad(v_cache, length)
            inputs["kmask"] = np.where(np.arange(length) < S, 0.0, -np.inf).reshape(1, 1, length)
        y, k_cache, v_cache = executable(inputs, bind)
        return y, k_cache[:, :S], v_cache[:, :S]
        ### END SOLUTION

    ### BEGIN SOLUTION
    def _key(self, S):
        """The key for this call; automatic decides by what it has seen."""
        key = bucket_key(self._policy, S)
        self._lengths.add(S)
        if self._policy == "automatic" and len(self._lengths) == 1:
            return S
        return key

    def _executable(self, key, masked):
        """Look up, or compile and make room; afterwards `key` is the most recently used."""
        if key in self._executables:
            self.hits += 1
        else:
            self._executables[key] = self._compiler.compile(key, masked=masked)
            self.compiles += 1
        self._executables.move_to_end(key)
        if self._max_entries is not None and len(self._executables) > self._max_entries:
            self._executables.popitem(last=False)
            self.evictions += 1
        return self._executables[key]

    ### END SOLUTION


### BEGIN SOLUTION
def _pad(cache, length):
    """A copy of cache (H, S, D), extended with zeros to (H, length, D)."""
    padded = np.zeros((cache.shape[0], length, cache.shape[2]))
    padded[:, : cache.shape[1]] = cache
    return padded


### END SOLUTION
