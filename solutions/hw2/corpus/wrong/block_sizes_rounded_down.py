"""Bc is rounded down.

fails: [block_sizes]
also: [public_block_sizes]
says: Bc is rounded down, the paper rounds it up.
"""


def block_sizes(M: int, d: int) -> tuple[int, int]:
    Bc = M // (4 * d)
    return min(Bc, d), Bc
