"""A full cache is emptied altogether.

fails: [eviction]
also: [public_eviction]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if key not in self._executables and len(self._executables) == self._max_entries:
            self.evictions += len(self._executables)
            self._executables.clear()

        if key in self._executables:
            self.hits += 1
        else:
            self._executables[key] = self._compiler.compile(key, masked=masked)
            self.compiles += 1

        return self._executables[key]
