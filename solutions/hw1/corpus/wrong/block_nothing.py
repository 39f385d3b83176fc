"""None is returned.

fails: [block_values, public_block]
"""


def block_state(S, V):
    return None
