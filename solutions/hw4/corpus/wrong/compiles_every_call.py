"""A graph is compiled at every call and used once.

fails: [device_counts]
also: [public_compiles, public_eviction, public_waste, known_answers, specialisation, eviction, counters, independent]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        if key in self._executables:
            self.hits += 1
        self._executables[key] = self._compiler.compile(key, masked=masked)
        self.compiles += 1
        return self._executables[key]
