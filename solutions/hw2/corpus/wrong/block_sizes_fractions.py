"""The sizes are floats.

fails: [block_sizes]
also: [public_block_sizes]
"""


def block_sizes(M: int, d: int) -> tuple[int, int]:
    Bc = float(-(-M // (4 * d)))
    return min(Bc, float(d)), Bc
