"""The new row is also written into the caller's caches.

fails: [keys]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        y, k, v = super().__call__(x, k_cache, v_cache, cos, sin)
        k_cache[...], v_cache[...] = k, v
        return y, k, v
