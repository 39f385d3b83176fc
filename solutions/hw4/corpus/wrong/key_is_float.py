"""The key is a float of the right value.

fails: [keys]
"""

import math

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return 2.0 ** math.ceil(math.log2(S))
    return _solved(policy, S)
