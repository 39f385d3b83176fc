"""The symbolic graph is used for a length of 1 too.

fails: [keys, specialisation]
also: [public_keys, device_counts, counters, outputs, caches, poison, inputs_kept]
says: "A symbolic size stands for 2 or more: with a size of 1 broadcasting means something else, so 1 needs a graph of its own."
"""

_solved = bucket_key


def bucket_key(policy, S):
    key = _solved(policy, S)
    return "S" if policy in ("symbolic", "automatic") else key
