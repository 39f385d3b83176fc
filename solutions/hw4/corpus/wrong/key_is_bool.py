"""The key of length 1 is a comparison, not a number.

fails: [keys]
also: [public_keys, device_counts, specialisation, counters, outputs, caches, poison, inputs_kept]
"""

_solved = bucket_key


def bucket_key(policy, S):
    if policy in ("symbolic", "automatic") and S >= 1:
        return "S" if S >= 2 else S == 1
    return _solved(policy, S)
