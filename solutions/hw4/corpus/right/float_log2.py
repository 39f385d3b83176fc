"""Powers of two through math.log2, which is exact enough up to 2^40, and multiples through true division."""

import math

_solved = bucket_key


def bucket_key(policy, S):
    if S < 1:
        raise ValueError("S < 1")
    if policy == "pow2":
        return 2 ** math.ceil(math.log2(S))
    if policy == "mult128":
        return math.ceil(S / 128) * 128
    return _solved(policy, S)
