"""The list of buckets ends at 4096; what is longer gets the last one.

fails: [keys_large]
also: [public_keys]
"""

from bisect import bisect_left

_solved = bucket_key
_POWERS = [1 << n for n in range(13)]


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return _POWERS[min(bisect_left(_POWERS, S), len(_POWERS) - 1)]
    return _solved(policy, S)
