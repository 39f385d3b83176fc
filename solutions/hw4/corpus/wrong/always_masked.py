"""Every policy uses masked graphs.

fails: [specialisation, device_counts]
also: [public_compiles, public_eviction, known_answers, eviction, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        S = k_cache.shape[1]
        key = self._key(S)
        length = key if self._policy in ("pow2", "mult128") else S
        self.real += S
        self.padded += length
        kmask = np.where(np.arange(length) < S, 0.0, -np.inf).reshape(1, 1, length)
        inputs = {"x": x, "k_cache": _pad(k_cache, length), "v_cache": _pad(v_cache, length), "kmask": kmask}
        bind = {"P": S - 1, "S": S} if key == "S" else {"P": S - 1}
        y, k, v = self._executable(key, True)({**inputs, "cos": cos, "sin": sin}, bind)
        return y, k[:, :S], v[:, :S]
