"""An exact multiple of 128 is moved to the next one.

fails: [keys, keys_large]
also: [public_keys, known_answers, device_counts, eviction, counters]
says: A length that is a multiple of 128 already is moved into the next bucket.
"""

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "mult128" and S >= 1:
        return (S // 128 + 1) * 128
    return _solved(policy, S)
