"""Instances that use the same device share their executables.

fails: [independent]
says: "Two instances find each other's executables: what lives on the class belongs to all of them."
"""


class CompileCache(CompileCache):
    _shared = {}

    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, policy, max_entries=max_entries)
        if max_entries is None:
            self._executables = self._shared.setdefault((compiler, policy), self._executables)
