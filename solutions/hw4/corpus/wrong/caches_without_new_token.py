"""The caches come back as they were given, without the new row.

fails: [caches]
also: [public_outputs, known_answers, poison, independent]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        y, _, _ = super().__call__(x, k_cache, v_cache, cos, sin)
        return y, k_cache, v_cache
