"""Keys found by counting up."""


def bucket_key(policy, S):
    if policy not in {"exact", "pow2", "mult128", "symbolic", "automatic"} or S < 1:
        raise ValueError(f"no key for {policy!r} and {S}")
    if policy == "pow2":
        bucket = 1
        while bucket < S:
            bucket += bucket
        return bucket
    if policy == "mult128":
        return S + -S % 128
    return S if policy == "exact" or S == 1 else "S"
