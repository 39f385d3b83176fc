"""Refusals are KeyErrors.

fails: [keys_errors, refusals]
also: [public_errors]
"""

_solved = bucket_key


def bucket_key(policy, S):
    try:
        return _solved(policy, S)
    except ValueError as error:
        raise KeyError(str(error))
