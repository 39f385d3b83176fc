"""A first length of 1 does not count as seen.

fails: [specialisation]
also: [device_counts]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        if self._policy != "automatic":
            return super()._key(S)
        if S >= 2:
            self._lengths.add(S)
        return S if len(self._lengths) <= 1 else bucket_key("automatic", S)
