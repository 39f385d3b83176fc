"""(Bc, Br) is returned.

fails: [block_sizes]
also: [public_block_sizes]
says: The result is (Br, Bc) in this order.
"""


def block_sizes(M: int, d: int) -> tuple[int, int]:
    Bc = -(-M // (4 * d))
    return Bc, min(Bc, d)
