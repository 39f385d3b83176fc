"""Executables are filed under the identity of the array that was passed.

fails: [device_counts, specialisation]
also: [public_compiles, public_eviction, public_waste, known_answers, eviction, counters, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        self._object = (len(self.__dict__.setdefault("_kept", [])), id(k_cache))
        self._kept.append(k_cache)  # so that no identity returns
        return super().__call__(x, k_cache, v_cache, cos, sin)

    def _executable(self, key, masked):
        if self._object in self._executables:
            self.hits += 1
        else:
            self._executables[self._object] = self._compiler.compile(key, masked=masked)
            self.compiles += 1
        return self._executables[self._object]
