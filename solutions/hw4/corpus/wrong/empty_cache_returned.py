"""A cache of length 0 is handed back instead of refused.

fails: [refusals]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        if k_cache.shape[1] == 0:
            return x, k_cache, v_cache
        return super().__call__(x, k_cache, v_cache, cos, sin)
