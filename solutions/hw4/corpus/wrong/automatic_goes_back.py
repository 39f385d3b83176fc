"""automatic uses the exact graph again when the first length returns.

fails: [specialisation]
also: [device_counts]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        key = super()._key(S)
        return S if self._policy == "automatic" and S in self._executables else key
