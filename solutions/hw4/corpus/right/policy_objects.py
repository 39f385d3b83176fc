"""A strategy function per policy; an unknown policy is refused at the first call."""


class CompileCache(CompileCache):
    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, "exact", max_entries=max_entries)
        self._policy = policy

    def _key(self, S):
        strategies = {
            "exact": lambda: S,
            "pow2": lambda: bucket_key("pow2", S),
            "mult128": lambda: bucket_key("mult128", S),
            "symbolic": lambda: bucket_key("symbolic", S),
            "automatic": self._automatic,
        }
        if self._policy not in strategies or S < 1:
            raise ValueError(f"no strategy for {self._policy!r} and length {S}")
        self._now = S
        return strategies[self._policy]()

    def _automatic(self):
        self._lengths.add(self._now)
        return self._now if len(self._lengths) < 2 else bucket_key("automatic", self._now)
