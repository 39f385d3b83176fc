"""The waste is padded / real, without subtracting 1.

fails: [counters]
also: [public_waste]
"""


class CompileCache(CompileCache):
    @property
    def waste(self):
        return self.padded / self.real if self.real else 0.0
