"""What automatic has seen is remembered by the class.

fails: [specialisation]
also: [public_compiles, known_answers, device_counts, counters, independent]
"""


class CompileCache(CompileCache):
    _ever = set()

    def _key(self, S):
        self._lengths = self._ever
        return super()._key(S)
