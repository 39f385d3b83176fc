"""Padded caches are run by graphs without a mask.

fails: [outputs, device_counts]
also: [public_compiles, public_outputs, public_waste, known_answers, eviction, poison, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        S = k_cache.shape[1]
        if self._policy not in ("pow2", "mult128"):
            return super().__call__(x, k_cache, v_cache, cos, sin)
        length = self._key(S)
        self.real += S
        self.padded += length
        inputs = {"x": x, "k_cache": _pad(k_cache, length), "v_cache": _pad(v_cache, length), "cos": cos, "sin": sin}
        y, k, v = self._executable(length, False)(inputs, {"P": S - 1})
        return y, k[:, :S], v[:, :S]
