"""Buckets are looked up in a list on the wrong side of equality.

fails: [keys, keys_large]
also: [public_keys, public_waste, known_answers, device_counts, eviction, counters]
"""

from bisect import bisect_right

_solved = bucket_key
_POWERS = [1 << n for n in range(42)]


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return _POWERS[bisect_right(_POWERS, S)]
    return _solved(policy, S)
