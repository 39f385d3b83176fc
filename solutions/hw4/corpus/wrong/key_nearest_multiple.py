"""The bucket is the nearest multiple of 128, above or below.

fails: [keys]
"""

_solved = bucket_key


def bucket_key(policy, S):
    if policy == "mult128" and S >= 1:
        return max(128, 128 * round(S / 128))
    return _solved(policy, S)
