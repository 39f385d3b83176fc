"""The least often used executable is dropped.

fails: [keys]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        counts = self.__dict__.setdefault("_counts", {})
        if key in self._executables:
            self.hits += 1
        else:
            if self._max_entries is not None and len(self._executables) >= self._max_entries:
                rarest = min(self._executables, key=lambda k: counts[k])
                del self._executables[rarest], counts[rarest]
                self.evictions += 1
            self._executables[key] = self._compiler.compile(key, masked=masked)
            self.compiles += 1
        counts[key] = counts.get(key, 0) + 1
        return self._executables[key]
