"""The arguments are judged as the contract says, and then nothing is computed."""


def bucket_key(policy, S):
    if S < 1 or policy not in ("exact", "pow2", "mult128", "symbolic", "automatic"):
        raise ValueError("no such policy or length")
    return 0


class CompileCache:
    compiles = hits = evictions = real = padded = 0
    waste = 0.0

    def __init__(self, compiler, policy, *, max_entries=None):
        bucket_key(policy, 1)
        if max_entries is not None and max_entries < 1:
            raise ValueError("no room")

    def __call__(self, x, k_cache, v_cache, cos, sin):
        bucket_key("exact", k_cache.shape[1])
        return x, k_cache, v_cache
