"""The last two executables are tried before a new one is compiled, in the hope that they accept the inputs.

fails: [device_counts, known_answers]
also: [public_compiles, eviction]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if self._policy == "exact" and key not in self._executables:
            for executable in list(self._executables.values())[-2:]:
                try:
                    executable(self._inputs, {"P": key - 1})
                except RuntimeError:
                    continue
        return super()._executable(key, masked)

    def __call__(self, x, k_cache, v_cache, cos, sin):
        self._inputs = {"x": x, "k_cache": k_cache, "v_cache": v_cache, "cos": cos, "sin": sin}
        return super().__call__(x, k_cache, v_cache, cos, sin)
