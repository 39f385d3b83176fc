"""automatic compares with the previous length only, and forgets that it has switched.

fails: [keys]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        if self._policy != "automatic":
            return super()._key(S)
        previous, self._previous = getattr(self, "_previous", S), S
        return S if previous == S else bucket_key("automatic", S)
