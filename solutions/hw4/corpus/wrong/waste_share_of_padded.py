"""The waste is measured against the padded length.

fails: [keys]
"""


class CompileCache(CompileCache):
    @property
    def waste(self):
        return (self.padded - self.real) / self.padded if self.real else 0.0
