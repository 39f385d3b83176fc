"""Bc goes through floating point, which is wrong for large M.

fails: ["block_sizes[large]"]
"""


def block_sizes(M: int, d: int) -> tuple[int, int]:
    Bc = math.ceil(M / (4 * d))
    return min(Bc, d), Bc
