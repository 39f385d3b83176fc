"""`real` counts tokens, one per call.

fails: [counters]
also: [public_waste, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        result = super().__call__(x, k_cache, v_cache, cos, sin)
        self.real += 1 - k_cache.shape[1]
        return result
