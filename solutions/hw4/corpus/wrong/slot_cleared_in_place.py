"""The slot of the new token is zeroed in the caller's array.

fails: [inputs_kept]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        k_cache[:, -1:] = v_cache[:, -1:] = 0.0
        return super().__call__(x, k_cache, v_cache, cos, sin)
