"""`compiles` is the number of executables that are kept.

fails: [eviction]
"""


class CompileCache(CompileCache):
    @property
    def compiles(self):
        return len(self._executables)

    @compiles.setter
    def compiles(self, value):
        pass
