"""Only zero is refused as max_entries.

fails: [keys]
"""


class CompileCache(CompileCache):
    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, policy, max_entries=None if max_entries is not None and max_entries < 0 else max_entries)
