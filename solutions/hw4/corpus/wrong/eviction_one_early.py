"""One executable less than max_entries is kept.

fails: [eviction]
also: [public_eviction]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if key in self._executables:
            self.hits += 1
        else:
            self._executables[key] = self._compiler.compile(key, masked=masked)
            self.compiles += 1

        executable = self._executables[key]
        self._executables.move_to_end(key)
        if self._max_entries is not None and len(self._executables) >= self._max_entries:
            self._executables.popitem(last=False)
            self.evictions += 1
        return executable
