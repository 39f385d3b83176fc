"""automatic is symbolic from the first call.

fails: [keys]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        return bucket_key(self._policy, S)
