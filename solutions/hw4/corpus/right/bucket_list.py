"""Buckets are a sorted list that grows on demand, looked up by bisection."""

from bisect import bisect_left

_solved = bucket_key
_POWERS = [1]


def bucket_key(policy, S):
    key = _solved(policy, S)
    if policy != "pow2":
        return key
    while _POWERS[-1] < S:
        _POWERS.append(2 * _POWERS[-1])
    return _POWERS[bisect_left(_POWERS, S)]
