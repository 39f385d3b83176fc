"""Compiles for every call and reports the counts of a cache.

earns: [public_keys, public_errors, public_outputs, keys, keys_large, keys_errors, outputs, caches, poison, inputs_kept, refusals]
"""


class CompileCache(CompileCache):
    def _executable(self, key, masked):
        super()._executable(key, masked)
        return self._compiler.compile(key, masked)
