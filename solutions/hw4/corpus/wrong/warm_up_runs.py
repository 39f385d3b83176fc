"""Every new executable is run twice, once to warm it up.

fails: [device_counts]
also: [public_compiles, known_answers, specialisation, eviction, inputs_kept, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        compiles, counters = self.compiles, None
        result = super().__call__(x, k_cache, v_cache, cos, sin)
        if self.compiles > compiles:
            counters = dict(self.__dict__)
            result = super().__call__(x, k_cache, v_cache, cos, sin)
            self.__dict__.update(counters)
        return result
