"""Counters live on the class.

fails: [keys]
"""


class CompileCache(CompileCache):
    _hits = 0

    @property
    def hits(self):
        return CompileCache._hits

    @hits.setter
    def hits(self, value):
        CompileCache._hits = max(value, CompileCache._hits)
