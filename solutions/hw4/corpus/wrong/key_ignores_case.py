"""Policies are recognised whatever their case.

fails: [keys]
"""

_solved = bucket_key


def bucket_key(policy, S):
    return _solved(policy.lower(), S)
