"""No bucket is smaller than 16, so that short caches are padded more than the policy says.

fails: [keys]
also: [public_keys, public_compiles, public_waste, device_counts, eviction, counters, independent]
"""

_solved = bucket_key


def bucket_key(policy, S):
    key = _solved(policy, S)
    return max(key, 16) if policy == "pow2" else key
