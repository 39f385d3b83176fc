"""Sends the device requests that no handle makes: numbers as lengths, lists as arrays, unknown graphs.

earns: [public_keys, public_errors, keys, keys_large, keys_errors]
"""


class CompileCache(CompileCache):
    def __call__(self, x, k_cache, v_cache, cos, sin):
        link = self._compiler._back._link
        for request in (
            ("run", -1, {}, {}),
            ("compile", 2.5, False),
            ("compile", 2**200, True),
            ("run", 0, [x], {"P": "S"}),
        ):
            try:
                link.request(*request)
            except Exception:
                continue
        return x, k_cache, v_cache
