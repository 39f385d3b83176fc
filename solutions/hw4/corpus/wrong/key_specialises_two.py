"""Length 2 is specialised as well.

fails: [keys]
"""

_solved = bucket_key


def bucket_key(policy, S):
    key = _solved(policy, S)
    return S if policy in ("symbolic", "automatic") and S == 2 else key
