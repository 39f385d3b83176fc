"""Executables live on the class and outlive the device they were made by.

fails: [keys]
"""


class CompileCache(CompileCache):
    _executables = OrderedDict()

    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, policy, max_entries=max_entries)
        del self.__dict__["_executables"]
