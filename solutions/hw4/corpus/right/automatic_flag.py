"""automatic remembers one length and whether it has changed, not a set."""


class CompileCache(CompileCache):
    def _key(self, S):
        if self._policy != "automatic":
            return bucket_key(self._policy, S)
        bucket_key("automatic", S)
        if not hasattr(self, "_first"):
            self._first, self._changed = S, False
        self._changed |= self._first != S
        return bucket_key("automatic", S) if self._changed else S
