"""Recency is a list of keys, the cache a dict keyed by (length, masked) tuples."""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        key = (key, masked)
        self._order = getattr(self, "_order", [])
        if key in self._order:
            self._order.remove(key)
            self.hits += 1
        else:
            self._executables[key] = self._compiler.compile(*key)
            self.compiles += 1
        self._order.append(key)
        if self._max_entries and len(self._order) > self._max_entries:
            del self._executables[self._order.pop(0)]
            self.evictions += 1
        return self._executables[key]
