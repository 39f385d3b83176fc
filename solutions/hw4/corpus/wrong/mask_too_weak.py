"""The mask is finite and too small to be forgotten by the softmax.

fails: [outputs]
also: [public_outputs, known_answers, poison, independent]
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
        bind = {"P": S - 1}
        if key == "S":
            bind["S"] = S
        if masked:
            inputs["k_cache"] = _pad(k_cache, length)
            inputs["v_cache"] = _pad(v_cache, length)
            inputs["kmask"] = np.where(np.arange(length) < S, 0.0, -20.0).reshape(1, 1, length)
        y, k_cache, v_cache = executable(inputs, bind)
        return y, k_cache[:, :S], v_cache[:, :S]
