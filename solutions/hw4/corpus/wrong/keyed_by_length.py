"""Executables are filed under the exact length, whatever the policy's key.

fails: [device_counts, specialisation]
also: [public_compiles, public_waste, known_answers, eviction, counters]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        S = self._last
        if S in self._executables:
            self.hits += 1
        else:
            self._executables[S] = self._compiler.compile(key, masked=masked)
            self.compiles += 1
        self._executables.move_to_end(S)
        if self._max_entries is not None and len(self._executables) > self._max_entries:
            self._executables.popitem(last=False)
            self.evictions += 1
        return self._executables[S]

    def _key(self, S):
        self._last = S
        return super()._key(S)
