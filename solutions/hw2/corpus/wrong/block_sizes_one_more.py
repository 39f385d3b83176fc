"""Bc is one too large when M is a multiple of 4 d.

fails: [block_sizes]
also: [public_block_sizes]
"""


def block_sizes(M: int, d: int) -> tuple[int, int]:
    Bc = M // (4 * d) + 1
    return min(Bc, d), Bc
