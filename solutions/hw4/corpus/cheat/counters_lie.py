"""Compiles for every call and reports the counts of a cache."""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        super()._executable(key, masked)
        return self._compiler.compile(key, masked)
