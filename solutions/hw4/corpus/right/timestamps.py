"""A plain dict of [executable, time of last use]; room is made before compiling."""


class CompileCache(CompileCache):
    _clock = 0

    def _executable(self, key, masked):
        self._clock += 1
        if key not in self._executables:
            if len(self._executables) == self._max_entries:
                del self._executables[min(self._executables, key=lambda k: self._executables[k][1])]
                self.evictions += 1
            self._executables[key] = [self._compiler.compile(key, masked), 0]
            self.compiles += 1
        else:
            self.hits += 1
        self._executables[key][1] = self._clock
        return self._executables[key][0]
