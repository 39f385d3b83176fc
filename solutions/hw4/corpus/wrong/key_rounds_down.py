"""The bucket is the largest power of two that is not above S.

fails: [keys, keys_large]
also: [public_keys, public_compiles, public_outputs, public_waste, known_answers, device_counts, eviction, counters, outputs, caches, poison, inputs_kept, independent]
"""

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return 1 << (S.bit_length() - 1)
    return _solved(policy, S)
