"""A full cache drops an executable at every call, found or not.

fails: [eviction]
also: [public_eviction]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if self._max_entries is not None and len(self._executables) >= self._max_entries:
            self._executables.popitem(last=False)
            self.evictions += 1

        if key in self._executables:
            self.hits += 1
        else:
            self._executables[key] = self._compiler.compile(key, masked=masked)
            self.compiles += 1

        self._executables.move_to_end(key)
        return self._executables[key]
