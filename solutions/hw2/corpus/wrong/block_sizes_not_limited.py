"""Br is not limited by d.

fails: [block_sizes]
also: [public_block_sizes]
says: Br is the smaller of Bc and d.
"""


def block_sizes(M: int, d: int) -> tuple[int, int]:
    Bc = -(-M // (4 * d))
    return Bc, Bc
