"""Everything that happened is kept in a list, and every counter is computed from it."""


class CompileCache(CompileCache):
    def __init__(self, compiler, policy, *, max_entries=None):
        self._events = []
        super().__init__(compiler, policy, max_entries=max_entries)

    def __setattr__(self, name, value):
        if name in ("compiles", "hits", "evictions", "real", "padded"):
            self._events.append((name, value - getattr(self, name)))
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        if name in ("compiles", "hits", "evictions", "real", "padded"):
            return sum(amount for event, amount in self._events if event == name)
        raise AttributeError(name)
