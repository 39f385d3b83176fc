"""Every call counts as a hit.

fails: [counters, device_counts]
also: [public_compiles, known_answers, specialisation, eviction, independent]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        before = self.compiles
        executable = super()._executable(key, masked)
        self.hits += self.compiles - before
        return executable
