"""automatic stays exact.

fails: [specialisation]
also: [public_compiles, known_answers, device_counts, counters]
"""


class CompileCache(CompileCache):
    def _key(self, S):
        return S if self._policy == "automatic" and S >= 1 else bucket_key(self._policy, S)
