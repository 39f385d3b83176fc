"""The waste is real / padded - 1.

fails: [counters]
also: [public_waste]
"""


class CompileCache(CompileCache):
    @property
    def waste(self):
        return self.real / self.padded - 1 if self.real else 0.0
