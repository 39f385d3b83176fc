"""Returns an int subclass and arrays whose buffer changes when it is read twice."""


class Growing(np.ndarray):
    def tobytes(self, order="C"):
        return np.zeros(self.shape).tobytes()

    def astype(self, *args, **kwargs):
        return self


class Late:
    def __index__(self):
        return 4

    def __int__(self):
        return 4


def bucket_key(policy, S):
    return Late()


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        return x.view(Growing), k_cache.view(Growing), v_cache.view(Growing)

    compiles = hits = evictions = property(lambda self: Late(), lambda self, value: None)
