"""All buckets up to 1024 are compiled before the first call.

fails: [device_counts]
also: [public_compiles, public_waste, known_answers, counters, independent, refusals]
"""


class CompileCache(CompileCache):
    def __init__(self, compiler, policy, *, max_entries=None):
        super().__init__(compiler, policy, max_entries=max_entries)
        if policy == "pow2" and max_entries is None:
            for n in range(11):
                self._executables[1 << n] = compiler.compile(1 << n, masked=True)
                self.compiles += 1
