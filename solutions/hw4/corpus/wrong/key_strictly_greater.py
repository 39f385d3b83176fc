"""An exact power of two is moved to the next one.

fails: [keys, keys_large]
also: [public_keys, public_waste, known_answers, device_counts, eviction, counters]
says: A length that is a power of two already is moved into the next bucket, which doubles its work.
"""

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return 1 << S.bit_length()
    return _solved(policy, S)
