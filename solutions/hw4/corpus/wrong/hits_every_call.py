"""Every call counts as a hit.

fails: [keys]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        before = self.compiles
        executable = super()._executable(key, masked)
        self.hits += self.compiles - before
        return executable
