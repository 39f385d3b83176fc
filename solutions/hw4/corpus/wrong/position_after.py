"""The new token is written behind the last slot.

fails: [outputs, caches]
also: [public_compiles, public_outputs, public_eviction, public_waste, known_answers, device_counts, specialisation, eviction, counters, poison, inputs_kept, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        S = k_cache.shape[1]
        key = self._key(S)
        masked = self._policy in ("pow2", "mult128")
        executable = self._executable(key, masked)
        length = key if masked else S
        self.real += S
        self.padded += length
        inputs = {"x": x, "k_cache": k_cache, "v_cache": v_cache, "cos": cos, "sin": sin}
        bind = {"P": S}
        if key == "S":
            bind["S"] = S
        if masked:
            inputs["k_cache"] = _pad(k_cache, length)
            inputs["v_cache"] = _pad(v_cache, length)
            inputs["kmask"] = np.where(np.arange(length) < S, 0.0, -np.inf).reshape(1, 1, length)
        y, k_cache, v_cache = executable(inputs, bind)
        return y, k_cache[:, :S], v_cache[:, :S]
