"""The constructor and the calls treat an unknown policy as exact.

fails: [refusals]
"""


class CompileCache(CompileCache):
    def __init__(self, compiler, policy, *, max_entries=None):
        known = policy in ("exact", "pow2", "mult128", "symbolic", "automatic")
        super().__init__(compiler, policy if known else "exact", max_entries=max_entries)
