"""automatic switches at the second call, even when the length is the same.

fails: [specialisation]
also: [device_counts, independent]
says: What makes automatic switch is a second distinct length; the same length again is a hit.
"""


class CompileCache(CompileCache):
    def _key(self, S):
        if self._policy != "automatic":
            return super()._key(S)
        self._calls = getattr(self, "_calls", 0) + 1
        return S if self._calls == 1 else bucket_key("automatic", S)
