"""The waste before the first call is a division by zero.

fails: [counters]
"""


class CompileCache(CompileCache):
    @property
    def waste(self):
        return self.padded / self.real - 1
