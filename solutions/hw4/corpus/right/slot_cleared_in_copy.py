"""The slot of the new token is zeroed in copies of the caches, which are then passed on."""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        k_cache, v_cache = np.array(k_cache), np.array(v_cache)
        k_cache[:, -1:] = v_cache[:, -1:] = 0.0
        return super().__call__(x, k_cache, v_cache, cos, sin)
