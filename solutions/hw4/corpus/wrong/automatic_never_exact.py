"""automatic is symbolic from the first call.

fails: [specialisation]
also: [public_compiles, known_answers, device_counts, counters, independent]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        return bucket_key(self._policy, S)
