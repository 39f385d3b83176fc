"""automatic stays exact.

fails: [keys]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        return S if self._policy == "automatic" and S >= 1 else bucket_key(self._policy, S)
