"""The key is a float of the right value.

fails: [keys, keys_large]
also: [public_keys, public_compiles, public_outputs, public_waste, known_answers, device_counts, eviction, counters, outputs, caches, poison, inputs_kept, independent]
"""

import math

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return 2.0 ** math.ceil(math.log2(S))
    return _solved(policy, S)
