"""automatic compares a length with the one before it: equal neighbours are compiled exactly, whatever came earlier.

fails: [specialisation]
also: [device_counts, counters]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        key = super()._key(S)
        last, self._last = getattr(self, "_last", S), S
        return S if self._policy == "automatic" and S == last else key
