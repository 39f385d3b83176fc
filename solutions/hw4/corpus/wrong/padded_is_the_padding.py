"""`padded` counts the padding, not the padded length.

fails: [counters]
also: [public_waste, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        result = super().__call__(x, k_cache, v_cache, cos, sin)
        self.padded -= k_cache.shape[1]
        return result

    @property
    def waste(self):
        return self.padded / self.real if self.real else 0.0
