"""The logarithm is taken in single precision.

fails: [keys]
"""

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "pow2" and S >= 1:
        return int(2 ** np.ceil(np.log2(np.float32(S))))
    return _solved(policy, S)
