"""`compiles` reports the device's count, which other instances add to.

fails: [independent]
"""


class CompileCache(CompileCache):
    @property
    def compiles(self):
        return self._compiler.compiles

    @compiles.setter
    def compiles(self, value):
        pass
