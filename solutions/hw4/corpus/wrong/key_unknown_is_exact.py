"""An unknown policy is treated as exact.

fails: [keys_errors, refusals]
also: [public_errors]
"""

_solved = bucket_key


def bucket_key(policy, S):
    return _solved(policy if policy in ("exact", "pow2", "mult128", "symbolic", "automatic") else "exact", S)
