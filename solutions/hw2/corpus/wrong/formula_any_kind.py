"""An unknown kind counts as version 2.

fails: [unknown_kind]
"""


def io_formula(kind: str, N: int, d: int, Br: int | None = None, Bc: int | None = None) -> int:
    if kind == "standard":
        return 4 * N * N + 4 * N * d
    if kind == "v1":
        Tc = -(-N // Bc)
        return (N * d + 2 * N) + 2 * N * d + Tc * (3 * N * d + 4 * N)
    Tr = -(-N // Br)
    return N * d + 2 * N * d * Tr + N * d + N
