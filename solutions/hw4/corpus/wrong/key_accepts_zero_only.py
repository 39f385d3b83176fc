"""S = 0 is let through, only negative lengths are refused.

fails: [keys_errors]
also: [public_errors]
"""

_solved = bucket_key


def bucket_key(policy, S):
    return 0 if S == 0 else _solved(policy, S)
