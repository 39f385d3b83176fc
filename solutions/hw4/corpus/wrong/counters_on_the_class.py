"""Counters live on the class.

fails: [independent, counters]
also: [public_compiles, known_answers, device_counts, specialisation, eviction]
"""


class CompileCache(CompileCache):
    _hits = 0

    @property
    def hits(self):
        return CompileCache._hits

    @hits.setter
    def hits(self, value):
        CompileCache._hits = max(value, CompileCache._hits)
