"""`padded` grows only when something is compiled.

fails: [counters]
also: [public_waste, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        padded, compiles = self.padded, self.compiles
        result = super().__call__(x, k_cache, v_cache, cos, sin)
        if self.compiles == compiles:
            self.padded = padded
        return result
