"""Lengths below 1 are not refused.

fails: [keys]
"""

_solved = bucket_key


def bucket_key(policy, S):
    return S if S < 1 else _solved(policy, S)
