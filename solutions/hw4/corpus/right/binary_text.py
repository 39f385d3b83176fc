"""Keys from the binary digits of S, as text and as bits."""

_solved = bucket_key


def bucket_key(policy, S):
    _solved(policy, S)
    if policy == "pow2":
        return int("1" + "0" * (len(bin(S - 1)) - 2), 2) if S > 1 else 1
    return (S + 127) & ~127 if policy == "mult128" else _solved(policy, S)
