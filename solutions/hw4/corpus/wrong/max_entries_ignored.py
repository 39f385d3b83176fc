"""Nothing is ever dropped.

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

        return self._executables[key]
