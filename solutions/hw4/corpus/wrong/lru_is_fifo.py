"""The oldest executable is dropped, however recently it was used.

fails: [eviction]
also: [public_eviction]
says: "The executable that was compiled first is dropped, even when it was used a moment ago: a hit has to count as a use."
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if key in self._executables:
            self.hits += 1
        else:
            self._executables[key] = self._compiler.compile(key, masked=masked)
            self.compiles += 1

        if self._max_entries is not None and len(self._executables) > self._max_entries:
            self._executables.popitem(last=False)
            self.evictions += 1
        return self._executables[key]
