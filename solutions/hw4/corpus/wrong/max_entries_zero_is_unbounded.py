"""max_entries=0 means no bound.

fails: [refusals]
"""


class CompileCache(CompileCache):
    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, policy, max_entries=max_entries or None)
