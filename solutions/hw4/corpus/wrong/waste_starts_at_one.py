"""The waste before the first call is 1.

fails: [keys]
"""


class CompileCache(CompileCache):
    @property
    def waste(self):
        return self.padded / self.real - 1 if self.real else 1.0
