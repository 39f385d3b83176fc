"""automatic switches only when the length grows.

fails: [specialisation]
also: [device_counts]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        if self._policy != "automatic":
            return super()._key(S)
        self._dynamic = getattr(self, "_dynamic", False) or (bool(self._lengths) and S > max(self._lengths))
        self._lengths.add(S)
        return bucket_key("automatic", S) if self._dynamic else S
