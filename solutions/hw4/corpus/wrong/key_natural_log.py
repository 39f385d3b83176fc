"""The power of two comes from a quotient of natural logarithms, which is not exact.

fails: [keys_large]
says: A logarithm to base 2 computed from natural logarithms is off in the last digit, and rounding it up adds a whole power of two.
"""

import math

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return 2 ** math.ceil(math.log(S, 2))
    return _solved(policy, S)
