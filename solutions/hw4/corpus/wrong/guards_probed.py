"""Kept executables are tried one after the other until one accepts the inputs.

fails: [device_counts, known_answers]
also: [public_compiles, eviction, public_eviction, independent]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if self._policy == "exact" and key not in self._executables:
            for executable in self._executables.values():
                try:
                    executable(self._inputs, {"P": key - 1})
                except RuntimeError:
                    continue
        return super()._executable(key, masked)

    def __call__(self, x, k_cache, v_cache, cos, sin):
        self._inputs = {"x": x, "k_cache": k_cache, "v_cache": v_cache, "cos": cos, "sin": sin}
        return super().__call__(x, k_cache, v_cache, cos, sin)
