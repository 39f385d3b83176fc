"""automatic switches at the third distinct length.

fails: [specialisation]
also: [public_compiles, known_answers, device_counts, counters]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        self._lengths.add(S)
        if self._policy == "automatic" and len(self._lengths) <= 2:
            return S
        return bucket_key(self._policy, S)
